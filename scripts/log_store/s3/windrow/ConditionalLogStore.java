package windrow;

import io.delta.storage.HadoopFileSystemLogStore;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Iterator;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileAlreadyExistsException;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;

/** Delta's commits as compare-and-swap on an object store. Every commit has an id that nobody else gives. */
public class ConditionalLogStore extends HadoopFileSystemLogStore {
    public ConditionalLogStore(Configuration conf) {
        super(conf);
    }

    @Override
    public void write(Path path, Iterator<String> actions, Boolean overwrite, Configuration conf) throws IOException {
        FileSystem files = path.getFileSystem(conf);
        byte[] content = joined(actions);
        if (overwrite) {
            PutIfAbsent.fill(files.create(path, true), content);
            return;
        }
        try {
            PutIfAbsent.put(files, path, content);
        } catch (FileAlreadyExistsException taken) {
            throw new java.nio.file.FileAlreadyExistsException(path.toString()); // the one that Delta knows
        }
    }

    @Override
    public Iterator<FileStatus> listFrom(Path path, Configuration conf) throws IOException {
        FileSystem files = path.getFileSystem(conf);
        try {
            Iterator<FileStatus> found = LogListing.from(files, files.makeQualified(path));
            if (found.hasNext()) {
                return found;
            }
        } catch (ClassCastException | LinkageError other) {
            return super.listFrom(path, conf);
        }
        return super.listFrom(path, conf); // which says whether there is no such folder
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
