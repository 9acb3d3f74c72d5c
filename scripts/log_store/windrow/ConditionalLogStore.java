package windrow;

import io.delta.storage.HadoopFileSystemLogStore;
import java.io.ByteArrayOutputStream;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileAlreadyExistsException;
import java.util.Arrays;
import java.util.Iterator;
import org.apache.commons.io.IOUtils;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;

/**
 * Delta's commits as compare-and-swap, on a file system that makes a file only where there is none yet when it is
 * closed, as S3A does by If-None-Match. One that cannot do so refuses the option, and nothing is written.
 *
 * <p>Who was first is decided by the store alone. An answer may get lost, and the client then sends the file once more
 * and hears that it is there: so a failed writer looks at what is there, which is its own if it is the same to the
 * byte, as every commit has an id that nobody else gives.
 */
public class ConditionalLogStore extends HadoopFileSystemLogStore {
    private static final String CONDITIONAL = "fs.option.create.conditional.overwrite";
    private static final int ATTEMPTS = 5;

    public ConditionalLogStore(Configuration conf) {
        super(conf);
    }

    @Override
    public void write(Path path, Iterator<String> actions, Boolean overwrite, Configuration conf) throws IOException {
        FileSystem files = path.getFileSystem(conf);
        byte[] content = joined(actions);
        if (overwrite) {
            try (FSDataOutputStream stream = files.create(path, true)) {
                stream.write(content);
            }
            return;
        }
        for (int attempt = 1; ; attempt++) {
            try {
                put(files, path, content);
                return;
            } catch (IOException failure) {
                byte[] there = there(files, path);
                if (there != null && Arrays.equals(there, content)) {
                    return;
                }
                if (there != null) {
                    throw new FileAlreadyExistsException(path.toString());
                }
                // Nobody has it: two came at once, and the store has let neither in, or it could not be reached.
                if (attempt == ATTEMPTS) {
                    throw failure;
                }
            }
        }
    }

    private static void put(FileSystem files, Path path, byte[] content) throws IOException {
        FSDataOutputStream stream = (FSDataOutputStream)
            files.createFile(path).overwrite(false).recursive().must(CONDITIONAL, true).build();
        try {
            stream.write(content);
        } catch (IOException failure) {
            stream.abort(); // to close it would put what it has
            throw failure;
        }
        stream.close();
    }

    private static byte[] there(FileSystem files, Path path) throws IOException {
        try (FSDataInputStream stream = files.open(path)) {
            return IOUtils.toByteArray(stream);
        } catch (FileNotFoundException absent) {
            return null;
        }
    }

    private static byte[] joined(Iterator<String> actions) throws IOException {
        ByteArrayOutputStream content = new ByteArrayOutputStream();
        while (actions.hasNext()) {
            content.write((actions.next() + "\n").getBytes(StandardCharsets.UTF_8));
        }
        return content.toByteArray();
    }

    @Override
    public Boolean isPartialWriteVisible(Path path, Configuration conf) {
        return false;
    }
}
