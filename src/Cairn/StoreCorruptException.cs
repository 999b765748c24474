namespace Cairn;

/// <summary>
/// The store's file violates its own format: a checksum, a bound or a state is wrong. No sequence of operations and no death of a process can cause that.
/// </summary>
public sealed class StoreCorruptException : StoreException
{
    /// <summary>Creates an exception that reports damage at one place of a file.</summary>
    /// <param name="file">Path of the store's file.</param>
    /// <param name="offset">The position of the damage, in bytes from the start of the file.</param>
    /// <param name="expected">The content that the format requires there, in words or as a number.</param>
    /// <param name="found">The actual content, in words or as a number.</param>
    public StoreCorruptException(string file, long offset, string expected, string found)
        : base(
            $"The store '{file}' is damaged at byte {offset}: expected {expected}, found {found}. Run 'cairn verify " +
            "--store FILE' for a full report, or delete the file: a new store starts empty.")
    {
        File = file;
        Offset = offset;
        Expected = expected;
        Found = found;
    }

    private StoreCorruptException(string message, string file, string expected, string found, long offset = 0)
        : base(message)
    {
        File = file;
        Offset = offset;
        Expected = expected;
        Found = found;
    }

    /// <summary>Path of the store's file.</summary>
    public string File { get; }

    /// <summary>Gets the position of the damage, in bytes from the start of the file.</summary>
    public long Offset { get; }

    /// <summary>Gets the content that the format requires at <see cref="Offset"/>.</summary>
    public string Expected { get; }

    /// <summary>Gets the actual content at <see cref="Offset"/>.</summary>
    public string Found { get; }

    // The message does not advise to delete the file, because only one entry is damaged.
    internal static StoreCorruptException KeptEntry(string file, long offset, string collection, ReadOnlySpan<byte> key)
    {
        const string Whole = "the checksum of a whole entry";
        const string Other = "another";
        return new(
            $"The entry of the key '{Describe(key)}' in the collection '{collection}' of the store '{file}' is damaged at byte {offset}: expected {Whole}, " +
            $"found {Other}. Set the key again or remove it. Everything else can be read; 'cairn verify --store FILE' lists the damage.",
            file,
            Whole,
            Other,
            offset);
    }

    internal static StoreCorruptException NotGenuine(string file, string collection, ReadOnlySpan<byte> key)
    {
        const string Genuine = "one that was written for it with the store's key";
        return new(
            $"The entry of the key '{Describe(key)}' in the collection '{collection}' of the store '{file}' is not {Genuine}: the file was changed without the store's key. " +
            "Restore it from a backup, or set the key again.",
            file,
            Genuine,
            "another");
    }

    internal static StoreCorruptException NotABackup(string file)
    {
        const string Mark = "the mark of a backup";
        const string Else = "something else, or damage";
        return new($"The file '{file}' is not a backup of a Cairn store: expected {Mark} at its beginning, found {Else}. Name another file.", file, Mark, Else);
    }

    // The log can contain the only copy of a write, so the message never advises to delete it.
    internal static StoreCorruptException Log(string file, long offset, string expected, string found) =>
        new(
            $"The file '{file}' is damaged at byte {offset}: expected {expected}, found {found}. It holds writes that were acknowledged, so it was left as " +
            $"it is. Put a copy of it back; or restore a backup: 'cairn restore --store NEW BACKUP'; or make a new store of what can still be read: " +
            $"'cairn restore --salvage --store NEW {file}'.",
            file,
            expected,
            found,
            offset);

    internal static StoreCorruptException MissingLog(string file, string store, string? other)
    {
        const string There = "a file";
        const string None = "none";
        string rest = other is null ? "." : $"; or make a new store of what is left: 'cairn restore --salvage --store NEW {other}'.";
        return new(
            $"The file '{file}' is missing. It holds writes to the store '{store}' that were acknowledged, which its own file may not have. Put it back; or " +
            $"restore a backup: 'cairn restore --store NEW BACKUP'{rest}",
            file,
            There,
            None);
    }

    /// <summary>Passes the damage to a caller that continues without the damaged part. Throws it if there is no such caller.</summary>
    internal static void Report(StoreCorruptException damage, Action<StoreCorruptException>? onDamage)
    {
        if (onDamage is null)
        {
            throw damage;
        }

        onDamage(damage);
    }

    // The message does not advise to delete the file first, because the file is possibly not a store at all.
    internal static StoreCorruptException NotAStore(string file, string found)
    {
        const string Mark = "the mark of a Cairn store";
        return new(
            $"The file '{file}' is not a Cairn store: expected {Mark} at its beginning, found {found}. Nothing was changed. Name " +
            "another file; if this was a store, its first bytes are damaged, and only deleting it lets a new one begin.",
            file,
            Mark,
            found);
    }

    // Most keys are text. Other keys are shown in hexadecimal.
    private static string Describe(ReadOnlySpan<byte> key)
    {
        const int Longest = 100;
        ReadOnlySpan<byte> shown = key[..Math.Min(key.Length, Longest)];
        string more = key.Length > Longest ? "..." : string.Empty;
        return shown.ContainsAnyExceptInRange((byte)' ', (byte)'~')
            ? $"0x{Convert.ToHexString(shown)}{more}"
            : System.Text.Encoding.ASCII.GetString(shown) + more;
    }
}
