package windrow;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.spark.sql.execution.streaming.checkpointing.AbstractFileContextBasedCheckpointFileManager;
import org.apache.spark.sql.execution.streaming.checkpointing.CheckpointFileManager.CancellableFSDataOutputStream;

/** The files of a query's checkpoint on an object store: small ones, each put as a whole, only where there is none. */
public class ConditionalCheckpoints extends AbstractFileContextBasedCheckpointFileManager {
    private final Configuration conf;

    public ConditionalCheckpoints(Path path, Configuration conf) {
        super(path, conf);
        this.conf = conf;
    }

    @Override
    public CancellableFSDataOutputStream createAtomic(Path path, boolean overwrite) {
        return new Whole(path, overwrite, new ByteArrayOutputStream());
    }

    private final class Whole extends CancellableFSDataOutputStream {
        private final Path path;
        private final boolean overwrite;
        private final ByteArrayOutputStream content;
        private boolean ended = false;

        Whole(Path path, boolean overwrite, ByteArrayOutputStream content) {
            super(content);
            this.path = path;
            this.overwrite = overwrite;
            this.content = content;
        }

        @Override
        public synchronized void close() throws IOException {
            if (ended) {
                return;
            }
            ended = true;
            super.flush();
            FileSystem files = path.getFileSystem(conf);
            if (!overwrite) {
                PutIfAbsent.put(files, path, content.toByteArray());
                return;
            }
            PutIfAbsent.fill(files.create(path, true), content.toByteArray());
        }

        @Override
        public synchronized void cancel() {
            ended = true;
        }
    }
}
