using Cairn.Cli.Clients;
using Cairn.Cli.Entries;

namespace Cairn.Cli.Commands;

internal sealed class GetCommand : ToolCommand
{
    private readonly Argument<string[]> _words = new("KEY")
    {
        Description = "The key. The address of a server of Redis' protocol can precede it: redis://HOST:PORT, or another form of ADDRESS.",
        Arity = new ArgumentArity(1, 2),
    };

    private readonly ServerArguments _server = new();
    private readonly SharedOptions _shared;

    private readonly Option<string?> _file = new("--output")
    {
        HelpName = "FILE",
        Description = "Write the value to this file, which is replaced when the value is complete.",
    };

    private readonly Flag _raw = new("--raw", "For a server: print the value as it is stored, with the envelope of a hybrid cache.");
    private readonly Flag _base64 = new("--base64", "Print the value in Base64.");

    public GetCommand(SharedOptions shared)
        : base("get", "Prints the value of a key.")
    {
        _shared = shared;
        Add(_words);
        Add(_file);
        Add(_base64);
        Add(_raw);
        Add(shared.Collection);
        Add(shared.KeyBase64);
        _server.AddOptionsTo(this);
    }

    public override string UsageWords => "[ADDRESS | --store FILE] KEY";

    public override string Details =>
        "The value is written byte by byte. Only a terminal gets a line feed after it. The read counts as a use of the entry. With an address it reads strings, and the entries that Cairn's and Microsoft's distributed caches store, as hashes or plain values. For an entry of a hybrid cache it prints the serialized value, such as JSON. KEY is then the key on the server, as bigkeys lists it.";

    public override IReadOnlyList<Example> Examples { get; } =
    [
        new("cairn get --store books.cairn book:42", "Prints the value."),
        new("cairn get --store books.cairn cover:42 --output cover.jpg", "Writes it to a file."),
        new("cairn get redis://localhost:6379 shop:cache:k:book:42", "Prints the value of a hybrid cache's entry on a Redis server."),
        new("cairn get --store books.cairn --collection sessions alice --json", "Prints the value with version, flags and expiration."),
    ];

    public override string JsonShape =>
        """{"key", "collection"?, "found": true, "valueBytes", "version", "flags"?, "expires"?, "slidingMs"?, "slidingLimit"?, "value" or "valueBase64" (not with --output)}; without a value {"key", "collection"?, "found": false}. Of a server: {"key", "found": true, "valueBytes", "expires"?, "entry"? (of a hybrid cache): {"format", "created", "freshUntil"?, "usableUntil"?, "slidingMs"?, "etag"?, "tags"?, "isNull"?}, "value" or "valueBase64"}.""";

    public override string MeaningOfNo => "the key has no value";

    public override int Run(Invocation invocation)
    {
        string[] words = invocation.Get(_words)!;
        byte[] key = invocation.ReadKey(words[^1]);
        if (words.Length > 1)
        {
            return GetFromServer(invocation, _server.Read(invocation, words[0], _shared.Store), key);
        }

        using CairnStore store = invocation.OpenExisting();
        var value = new ArrayBufferWriter<byte>();
        EntryInfo info = default;
        bool isThere = invocation.FindCollection(store) is { } collection && collection.TryGet(key, value, out info);
        if (!isThere)
        {
            return ReportMiss(invocation, key);
        }

        if (invocation.Get(_file) is { } path)
        {
            WriteFile(invocation, path, value.WrittenSpan);
        }

        if (invocation.IsJson)
        {
            WriteJson(invocation, key, info, value.WrittenSpan);
        }
        else if (!invocation.IsGiven(_file))
        {
            WriteText(invocation, value.WrittenSpan);
        }

        return ExitCode.Done;
    }

    private void WriteText(Invocation invocation, ReadOnlySpan<byte> value)
    {
        invocation.Output.Write(Encode(invocation, value));
        if (invocation.Console.IsOutputTerminal)
        {
            invocation.Output.WriteLine();
        }
    }

    private int GetFromServer(Invocation invocation, ServerTarget target, byte[] key)
    {
        if (invocation.IsGiven(_shared.Collection))
        {
            throw ToolException.Usage("--collection is for stores; a server has one key space");
        }

        using ServerLink link = ServerLink.Open(target);
        if (ServerEntry.Read(link, key, isRaw: invocation.Get(_raw), invocation.Console.Clock) is not { } entry)
        {
            return ReportMiss(invocation, key);
        }

        if (invocation.Get(_file) is { } path)
        {
            WriteFile(invocation, path, entry.Value);
        }

        if (invocation.IsJson)
        {
            using var line = new JsonLine(invocation.Output);
            EntryJson.WriteKey(line.Writer, key);
            line.Writer.WriteBoolean("found"u8, true);
            line.Writer.WriteNumber("valueBytes"u8, entry.Value.Length);
            if (entry.ExpiresAt is { } moment)
            {
                line.Writer.WriteString("expires"u8, Figures.Moment(moment));
            }

            entry.Envelope?.WriteJson(line.Writer);
            WriteJsonValue(invocation, line, entry.Value);
        }
        else if (!invocation.IsGiven(_file))
        {
            WriteText(invocation, entry.Value);
        }

        return ExitCode.Done;
    }

    private static int ReportMiss(Invocation invocation, byte[] key)
    {
        if (invocation.IsJson)
        {
            using var line = new JsonLine(invocation.Output);
            EntryJson.WriteKey(line.Writer, key);
            EntryJson.WriteCollection(line.Writer, invocation.CollectionName ?? "");
            line.Writer.WriteBoolean("found"u8, false);
        }
        else
        {
            invocation.Tell($"{KeyText.Quote(key)} has no value");
        }

        return ExitCode.No;
    }

    private void WriteJson(Invocation invocation, byte[] key, EntryInfo info, ReadOnlySpan<byte> value)
    {
        using var line = new JsonLine(invocation.Output);
        EntryJson.WriteKey(line.Writer, key);
        EntryJson.WriteCollection(line.Writer, invocation.CollectionName ?? "");
        line.Writer.WriteBoolean("found"u8, true);
        EntryJson.WriteFacts(line.Writer, info);
        EntryJson.WriteProperties(line.Writer, info);
        WriteJsonValue(invocation, line, value);
    }

    private void WriteJsonValue(Invocation invocation, JsonLine line, ReadOnlySpan<byte> value)
    {
        if (invocation.IsGiven(_file))
        {
            return;
        }

        if (invocation.Get(_base64))
        {
            line.Writer.WriteBase64String("valueBase64"u8, value);
        }
        else
        {
            EntryJson.WriteValue(line.Writer, value);
        }
    }

    private void WriteFile(Invocation invocation, string path, ReadOnlySpan<byte> value)
    {
        using ReplacedFile file = ReplacedFile.Create(path);
        file.Stream.Write(Encode(invocation, value));
        file.Commit();
    }

    private ReadOnlySpan<byte> Encode(Invocation invocation, ReadOnlySpan<byte> value) =>
        invocation.Get(_base64) ? Encoding.ASCII.GetBytes(Convert.ToBase64String(value)) : value;
}
