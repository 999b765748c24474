namespace Cairn.FileStore;

/// <summary>A cache file could not be used as it was asked to.</summary>
public class DistributedFileStoreCacheException : Exception
{
    /// <summary>Says what happened, with which value, and what to do.</summary>
    /// <param name="message">The message.</param>
    public DistributedFileStoreCacheException(string message)
        : base(message)
    {
    }

    /// <summary>Says what happened, with which value, and what to do.</summary>
    /// <param name="message">The message.</param>
    /// <param name="innerException">What caused it.</param>
    public DistributedFileStoreCacheException(string message, Exception? innerException)
        : base(message, innerException)
    {
    }
}

/// <summary>A cache file is not valid, most likely after an edit by hand. It is not written to until it is mended or cleared.</summary>
public sealed class FileStoreFormatException : DistributedFileStoreCacheException
{
    internal FileStoreFormatException(string message, string path, int line, int column)
        : base(message)
    {
        Path = path;
        Line = line;
        Column = column;
    }

    /// <summary>The file.</summary>
    public string Path { get; }

    /// <summary>The line of the mistake, from 1.</summary>
    public int Line { get; }

    /// <summary>The column of the mistake in characters, from 1.</summary>
    public int Column { get; }
}
