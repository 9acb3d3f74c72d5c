package windrow;

import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.util.Arrays;
import java.util.concurrent.ThreadLocalRandom;
import org.apache.commons.io.IOUtils;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FileAlreadyExistsException;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;

/**
 * A whole file, put where there is none: of two writers one has it, on a file system that looks whether there is one
 * when it is closed, as S3A does by If-None-Match. One that cannot do so refuses the option, and nothing is written.
 *
 * <p>Who was first is decided by the store alone. An answer may get lost, and the client then sends the file once more
 * and hears that it is there: so a writer that has failed looks at what is there, which is its own if it is the same to
 * the byte.
 */
final class PutIfAbsent {
    private static final String CONDITIONAL = "fs.option.create.conditional.overwrite";
    private static final int ATTEMPTS = 5;

    private PutIfAbsent() {}

    /** Raises FileAlreadyExistsException where another writer has it. */
    static void put(FileSystem files, Path path, byte[] content) throws IOException {
        for (int attempt = 1; ; attempt++) {
            try {
                write(files, path, content);
                return;
            } catch (IOException failure) {
                byte[] there = there(files, path);
                if (there != null && Arrays.equals(there, content)) {
                    return;
                }
                if (there != null) {
                    throw new FileAlreadyExistsException(path.toString());
                }
                // Nobody has it: two came at once and the store has let neither in, or it could not be reached.
                if (attempt == ATTEMPTS) {
                    throw failure;
                }
                pause(attempt);
            }
        }
    }

    /** Some tenths of a second, drawn anew, so that two that have met do not meet again. */
    private static void pause(int attempt) throws IOException {
        try {
            Thread.sleep(ThreadLocalRandom.current().nextLong(100L * attempt));
        } catch (InterruptedException stopped) {
            Thread.currentThread().interrupt();
            throw new InterruptedIOException("stopped before a file was put");
        }
    }

    private static void write(FileSystem files, Path path, byte[] content) throws IOException {
        fill(
            (FSDataOutputStream) files.createFile(path).overwrite(false).recursive().must(CONDITIONAL, true).build(),
            content);
    }

    /** Write all of it and close, or put nothing: to close a stream that has failed would put what it has. */
    static void fill(FSDataOutputStream stream, byte[] content) throws IOException {
        try {
            stream.write(content);
        } catch (IOException failure) {
            stream.abort();
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
}
