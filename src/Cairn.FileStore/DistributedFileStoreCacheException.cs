namespace Cairn.FileStore;

/// <summary>The exception for an operation that a cache file could not perform.</summary>
public class DistributedFileStoreCacheException : Exception
{
    /// <summary>Creates an exception with a message.</summary>
    /// <param name="message">The message: what happened, with which value, and what to do.</param>
    public DistributedFileStoreCacheException(string message)
        : base(message)
    {
    }

    /// <summary>Creates an exception with a message and a cause.</summary>
    /// <param name="message">The message: what happened, with which value, and what to do.</param>
    /// <param name="innerException">The cause.</param>
    public DistributedFileStoreCacheException(string message, Exception? innerException)
        : base(message, innerException)
    {
    }
}

/// <summary>
/// The exception for a malformed cache file, most likely after a manual edit. The cache does not write to the file until it is repaired or
/// cleared.
/// </summary>
public sealed class FileStoreFormatException : DistributedFileStoreCacheException
{
    internal FileStoreFormatException(string message, string path, int line, int column)
        : base(message)
    {
        Path = path;
        Line = line;
        Column = column;
    }

    /// <summary>Gets the path of the file.</summary>
    public string Path { get; }

    /// <summary>Gets the line of the error; the first line is 1.</summary>
    public int Line { get; }

    /// <summary>Gets the column of the error in characters; the first column is 1.</summary>
    public int Column { get; }
}
