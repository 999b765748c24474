using Cairn.Cli.Entries;
using Cairn.Collections;
using Cairn.Storage;

namespace Cairn.Cli.Commands;

internal sealed class SetCommand : ToolCommand
{
    private readonly Argument<string> _key = new("KEY") { Description = "The key: text, or Base64 with --key-base64." };

    private readonly Argument<string?> _value = new("VALUE")
    {
        Description = "The value; - reads it from standard input.",
        Arity = ArgumentArity.ZeroOrOne,
    };

    private readonly Option<string?> _file = new("--file") { HelpName = "FILE", Description = "Read the value from this file." };
    private readonly Flag _base64 = new("--base64", "The value is given in Base64.");
    private readonly ExpirationOptions _expiration = new();

    private readonly ValueOption<uint> _flags = new(
        "--flags", "N", "32 bits kept with the value, for applications. Default 0.", "a number from 0 to 4294967295 (or 0x…)", TryParseFlags);

    private readonly Flag _add = new("--add", "Only if the key has no value.");
    private readonly Flag _replace = new("--replace", "Only if the key has a value.");

    private readonly ValueOption<ulong> _version = new(
        "--if-version", "N", "Only if the key's value still has this version. 'get --json' prints the version.", "the version of an entry",
        static (string text, out ulong version) => ulong.TryParse(text, NumberStyles.None, CultureInfo.InvariantCulture, out version));

    public SetCommand(SharedOptions shared)
        : base("set", "Stores a value under a key. Creates the store if it does not exist.")
    {
        Add(_key);
        Add(_value);
        Add(_file);
        Add(_base64);
        _expiration.AddTo(this);
        Add(_flags);
        Add(_add);
        Add(_replace);
        Add(_version);
        Add(shared.Collection);
        Add(shared.KeyBase64);
        Add(shared.Capacity);
        Capacity = shared.Capacity;
    }

    public override string Details =>
        "Without an expiration, the default of the collection applies. Write a value or key that begins with a hyphen after --.";

    public override IReadOnlyList<Example> Examples { get; } =
    [
        new("cairn set --store books.cairn book:42 Dune", "Stores a text."),
        new("cairn set --store books.cairn book:42 Dune --ttl 5m --add", "For five minutes, and only if the key has no value."),
        new("cairn set --store books.cairn cover:42 --file cover.jpg", "Stores a file's content."),
        new("date | cairn set --store books.cairn today -", "Stores the output of a command."),
        new("cairn set --store books.cairn --collection sessions alice token --sliding 20m", "Expires 20 minutes after the last read."),
    ];

    public override string JsonShape =>
        """{"key", "collection"?, "status": "stored", "exists", "notFound", "versionMismatch", "tooLarge", "noRoom" or "busy", "valueBytes"}.""";

    public override string MeaningOfNo => "the condition does not hold, so nothing was stored";

    private ValueOption<long> Capacity { get; }

    public override int Run(Invocation invocation)
    {
        byte[] key = invocation.ReadKey(_key);
        Expiration expiration = invocation.Read(_expiration) ?? default;
        if ((invocation.Get(_add) ? 1 : 0) + (invocation.Get(_replace) ? 1 : 0) + (invocation.Get(_version) is null ? 0 : 1) > 1)
        {
            throw ToolException.Usage("--add, --replace and --if-version are three different conditions; give one");
        }

        // Runs before the store is opened, because reading standard input may take long.
        byte[] value = ReadValue(invocation);
        CreateCommand.RequireCapacity("--capacity", invocation.Get(Capacity));
        if (!File.Exists(invocation.StorePath) && DeclineInNewStore(invocation, value) is { } declined)
        {
            return Report(invocation, key, value, declined, LongestInNewStore(invocation));
        }

        using CairnStore store = invocation.OpenOrCreate();
        return Report(invocation, key, value, Store(invocation, store, key, value, expiration), store.MaxValueBytes);
    }

    // Returns the reason if a new store would not take the value. No store is then created.
    private WriteStatus? DeclineInNewStore(Invocation invocation, byte[] value)
    {
        if (invocation.CollectionName is { } collection)
        {
            _ = CollectionTable.EncodeName(collection);
        }

        return value.Length > LongestInNewStore(invocation) ? WriteStatus.TooLarge
            : invocation.Get(_replace) || invocation.Get(_version) is not null ? WriteStatus.NotFound
            : null;
    }

    private int LongestInNewStore(Invocation invocation) =>
        StoreLayout.MaxValueBytesOf(invocation.Get(Capacity) ?? SharedOptions.DefaultCapacityBytes);

    private static bool TryParseFlags(string text, out uint flags) =>
        text.StartsWith("0x", StringComparison.OrdinalIgnoreCase)
            ? uint.TryParse(text.AsSpan(2), NumberStyles.AllowHexSpecifier, CultureInfo.InvariantCulture, out flags)
            : uint.TryParse(text, NumberStyles.None, CultureInfo.InvariantCulture, out flags);

    private static byte[] ReadFile(string path)
    {
        try
        {
            using FileStream stream = File.OpenRead(path);
            return ReadAll(stream);
        }
        catch (Exception failure) when (failure is IOException or UnauthorizedAccessException)
        {
            throw new ToolException(ExitCode.File, $"'{path}' cannot be read: {failure.Message}", failure);
        }
    }

    // Reads at most 1.5 times the longest value, which is enough for Base64. A longer input is not read to its end.
    private static byte[] ReadAll(Stream stream)
    {
        const int Most = StoreLimits.MaxValueBytes / 2 * 3;
        var all = new MemoryStream();
        var buffer = new byte[64 * 1024];
        while (stream.Read(buffer, 0, buffer.Length) is > 0 and var read)
        {
            all.Write(buffer, 0, read);
            if (all.Length > Most)
            {
                throw new ToolException(ExitCode.Store, $"the value is too long: no store takes more than {Figures.Bytes(StoreLimits.MaxValueBytes)}");
            }
        }

        return all.ToArray();
    }

    private byte[] ReadValue(Invocation invocation)
    {
        string? text = invocation.Get(_value);
        string? path = invocation.Get(_file);
        if (text is null == path is null)
        {
            throw ToolException.Usage(
                text is null
                    ? "which value? Give it after the key, with --file FILE, or with - on standard input"
                    : "the value is given twice: after the key and with --file");
        }

        bool isBase64 = invocation.Get(_base64);
        if (text is not null and not "-")
        {
            return isBase64
                ? KeyInput.FromBase64(text, "the value")
                : KeyInput.FromText(text, "the value", "give it on standard input with -, with --file, or with --base64");
        }

        byte[] bytes;
        if (path is null or "-")
        {
            using Stream input = invocation.Console.OpenInput();
            bytes = ReadAll(input);
        }
        else
        {
            bytes = ReadFile(path);
        }

        return isBase64 ? KeyInput.FromBase64(Encoding.ASCII.GetString(bytes), "the value") : bytes;
    }

    private WriteStatus Store(Invocation invocation, CairnStore store, byte[] key, byte[] value, Expiration expiration)
    {
        if (value.Length > store.MaxValueBytes)
        {
            return WriteStatus.TooLarge;
        }

        CairnCollection collection = invocation.OpenCollection(store);
        uint flags = invocation.Get(_flags) ?? 0;
        return invocation.Get(_add) ? collection.Add(key, value, expiration, flags)
            : invocation.Get(_replace) ? collection.Replace(key, value, expiration, flags)
            : invocation.Get(_version) is { } version ? collection.CompareAndSwap(key, value, version, expiration, flags)
            : collection.Set(key, value, expiration, flags) ? WriteStatus.Stored
            : WriteStatus.NoRoom;
    }

    private static int Report(Invocation invocation, byte[] key, byte[] value, WriteStatus status, int maxValueBytes)
    {
        if (invocation.IsJson)
        {
            using var line = new JsonLine(invocation.Output);
            EntryJson.WriteKey(line.Writer, key);
            EntryJson.WriteCollection(line.Writer, invocation.CollectionName ?? "");
            line.Writer.WriteString("status"u8, WriteStatusText.Name(status));
            line.Writer.WriteNumber("valueBytes"u8, value.Length);
        }

        if (status == WriteStatus.Stored)
        {
            return ExitCode.Done;
        }

        string reason = status == WriteStatus.TooLarge
            ? $"the value has {Figures.Count(value.Length)} bytes, more than the {Figures.Count(maxValueBytes)} that this store takes"
            : WriteStatusText.Reason(status, KeyText.Quote(key));
        invocation.Tell(reason);
        return WriteStatusText.ExitCodeOf(status);
    }
}
