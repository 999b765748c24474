using System.Buffers;
using System.CommandLine;
using System.Text;
using Cairn.Cli.Arguments;
using Cairn.Cli.Entries;
using Cairn.Cli.Output;

namespace Cairn.Cli.Commands;

internal sealed class GetCommand : ToolCommand
{
    private readonly Argument<string> _key = new("KEY") { Description = "The key." };

    private readonly Option<string?> _file = new("--output")
    {
        HelpName = "FILE",
        Description = "Write the value to this file, which is replaced when the value is complete.",
    };

    private readonly Flag _base64 = new("--base64", "Print the value in Base64.");

    public GetCommand(SharedOptions shared)
        : base("get", "Prints the value of a key.")
    {
        Add(_key);
        Add(_file);
        Add(_base64);
        Add(shared.Collection);
        Add(shared.KeyBase64);
    }

    public override string Details =>
        "The value is written byte by byte. Only a terminal gets a line feed after it. The read counts as a use of the entry.";

    public override IReadOnlyList<Example> Examples { get; } =
    [
        new("cairn get --store books.cairn book:42", "Prints the value."),
        new("cairn get --store books.cairn cover:42 --output cover.jpg", "Writes it to a file."),
        new("cairn get --store books.cairn --collection sessions alice --json", "Prints the value with version, flags and expiration."),
    ];

    public override string JsonShape =>
        """{"key", "collection"?, "found": true, "valueBytes", "version", "flags"?, "expires"?, "slidingMs"?, "slidingLimit"?, "value" or "valueBase64" (not with --output)}; without a value {"key", "collection"?, "found": false}.""";

    public override string MeaningOfNo => "the key has no value";

    public override int Run(Invocation invocation)
    {
        byte[] key = invocation.ReadKey(_key);
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
            invocation.Output.Write(Encode(invocation, value.WrittenSpan));
            if (invocation.Console.IsOutputTerminal)
            {
                invocation.Output.WriteLine();
            }
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
