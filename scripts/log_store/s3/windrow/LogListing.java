package windrow;

import java.io.IOException;
import java.util.Arrays;
import java.util.Comparator;
import java.util.Iterator;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.s3a.Listing;
import org.apache.hadoop.fs.s3a.S3AFileSystem;
import org.apache.hadoop.fs.s3a.S3AUtils;
import org.apache.hadoop.fs.s3a.S3ListRequest;
import software.amazon.awssdk.services.s3.model.ListObjectsV2Request;

/**
 * What is in a folder from a name on, in order, as S3 itself can list it: a log of a month costs no more than its end.
 *
 * <p>S3A has no public name for this. With another file system, or another version of it, a caller gets a
 * ClassCastException or a LinkageError, and lists the whole folder.
 */
final class LogListing {
    private LogListing() {}

    static Iterator<FileStatus> from(FileSystem anyFiles, Path file) throws IOException {
        S3AFileSystem files = (S3AFileSystem) anyFiles;
        Path folder = file.getParent();
        String key = files.pathToKey(file);
        ListObjectsV2Request request = ListObjectsV2Request.builder()
            .bucket(files.getBucket())
            .prefix(files.pathToKey(folder) + "/")
            .delimiter("/")
            .startAfter(key.substring(0, key.length() - 1)) // so the file itself is found, and few others
            .build();
        FileStatus[] found = S3AUtils.iteratorToStatuses(
            files.getListing().createFileStatusListingIterator(
                folder,
                S3ListRequest.v2(request),
                S3AUtils.ACCEPT_ALL,
                new Listing.AcceptAllButSelfAndS3nDirs(folder),
                files.getActiveAuditSpan()));
        return Arrays.stream(found)
            .filter(one -> one.getPath().getName().compareTo(file.getName()) >= 0)
            .sorted(Comparator.comparing(one -> one.getPath().getName()))
            .iterator();
    }
}
