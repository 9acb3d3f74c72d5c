package windrow;

import io.delta.storage.HDFSLogStore;
import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.StandardCopyOption;
import java.util.Iterator;
import java.util.UUID;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.LocalFileSystem;
import org.apache.hadoop.fs.Path;

/**
 * Delta's commits as compare-and-swap on a local disk, between processes too: a hard link is there whole or not at all,
 * and of two of one name only one can be made. Delta's own store looks whether there is a file and renames later, so
 * another process's commit, made in between, would be gone.
 */
public class LinkingLogStore extends HDFSLogStore {
    public LinkingLogStore(Configuration conf) {
        super(conf);
    }

    @Override
    public void write(Path path, Iterator<String> actions, Boolean overwrite, Configuration conf) throws IOException {
        FileSystem files = path.getFileSystem(conf);
        if (!(files instanceof LocalFileSystem)) {
            super.write(path, actions, overwrite, conf);
            return;
        }
        java.nio.file.Path file = new File(files.makeQualified(path).toUri().getPath()).toPath();
        java.nio.file.Path made = file.resolveSibling("." + file.getFileName() + "." + UUID.randomUUID() + ".tmp");
        try {
            Files.write(made, (Iterable<String>) () -> actions, StandardCharsets.UTF_8);
            if (overwrite) {
                Files.move(made, file, StandardCopyOption.ATOMIC_MOVE);
            } else {
                Files.createLink(file, made); // raises FileAlreadyExistsException of java.nio, which Delta knows
            }
        } finally {
            Files.deleteIfExists(made);
        }
    }
}
