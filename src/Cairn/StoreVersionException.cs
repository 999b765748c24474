namespace Cairn;

/// <summary>The store's file has a format that this version of Cairn does not read.</summary>
public sealed class StoreVersionException : StoreException
{
    /// <summary>Creates an exception that reports the file's version and the version that this library reads.</summary>
    /// <param name="file">Path of the store's file.</param>
    /// <param name="foundVersion">The format version in the file.</param>
    /// <param name="supportedVersion">The format version that this library reads and writes.</param>
    public StoreVersionException(string file, long foundVersion, long supportedVersion)
        : base(
            $"The store '{file}' has format version {foundVersion}; this version of Cairn reads version " +
            $"{supportedVersion}. Open it with the version of Cairn that wrote it, or delete the file: a new store " +
            "starts empty.")
    {
        File = file;
        FoundVersion = foundVersion;
        SupportedVersion = supportedVersion;
    }

    /// <summary>Path of the store's file.</summary>
    public string File { get; }

    /// <summary>Gets the format version in the file.</summary>
    public long FoundVersion { get; }

    /// <summary>Gets the format version that this library reads and writes.</summary>
    public long SupportedVersion { get; }
}
