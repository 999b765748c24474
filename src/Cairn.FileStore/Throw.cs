using Cairn.FileStore.Format;

namespace Cairn.FileStore;

/// <summary>The exceptions that several classes throw, each with one message.</summary>
internal static class Throw
{
    public static DistributedFileStoreCacheException LockTimeout(string path, TimeSpan timeout, Exception? inner) => new(
        $"The cache is not changed: another process held the lock '{path}' for longer than {timeout}. " +
        "Find out which process it is (lsof), or raise LockTimeout.",
        inner);

    public static FileStoreFormatException NotACacheFile(string path, FormatProblem problem) => new(
        $"The cache file '{path}' is not valid at line {problem.Line}, column {problem.Column}: {problem.Text}. The cache serves the " +
        "earlier entries, and refuses changes until the file is repaired or cleared with ClearAll.",
        path,
        problem.Line,
        problem.Column);

    public static DistributedFileStoreCacheException TooLarge(string path, long bytes, long limit) => new(string.Create(
        CultureInfo.InvariantCulture,
        $"Your cache json file has more that {limit} bytes, so you MUST set the option's MaxBytesInJsonCacheFile to a bigger value. " +
        $"'{path}' would have {bytes} bytes, so nothing is changed. SetMaxBytesByCalculation helps to choose a limit."));
}
