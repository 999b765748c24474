using Cairn.Cli.Entries;

namespace Cairn.Cli.Commands;

internal sealed class TouchCommand : ToolCommand
{
    private readonly Argument<string[]> _keys = new("KEY") { Description = "The keys.", Arity = ArgumentArity.OneOrMore };
    private readonly ExpirationOptions _expiration = new();

    public TouchCommand(SharedOptions shared)
        : base("touch", "Changes when the values of keys expire.")
    {
        Add(_keys);
        _expiration.AddTo(this);
        Add(shared.Collection);
        Add(shared.KeyBase64);
    }

    public override IReadOnlyList<Example> Examples { get; } =
    [
        new("cairn touch --store books.cairn book:42 --ttl 1h", "Expires an hour from now."),
        new("cairn touch --store books.cairn book:42 book:43 --no-expiry", "Two values that do not expire."),
    ];

    public override string JsonShape =>
        """{"touched": how many, "keys": [{"key", "status": "touched", "notFound", "noRoom" or "busy"}]}.""";

    public override string MeaningOfNo => "a key has no value; those that have one are changed";

    public override int Run(Invocation invocation)
    {
        byte[][] keys = invocation.ReadKeys(_keys);
        Expiration expiration = invocation.Read(_expiration)
            ?? throw ToolException.Usage("when should it expire? Give --ttl, --expires, --sliding or --no-expiry");
        using CairnStore store = invocation.OpenExisting();
        CairnCollection? collection = invocation.FindCollection(store);
        WriteStatus[] statuses = [.. keys.Select(key => collection?.Touch(key, expiration) ?? WriteStatus.NotFound)];
        if (invocation.IsJson)
        {
            WriteJson(invocation, keys, statuses);
        }

        for (int i = 0; i < keys.Length; i++)
        {
            if (statuses[i] != WriteStatus.Stored && (!invocation.IsJson || statuses[i] != WriteStatus.NotFound))
            {
                invocation.Tell(WriteStatusText.Reason(statuses[i], KeyText.Quote(keys[i])));
            }
        }

        return statuses.Max(WriteStatusText.ExitCodeOf);
    }

    private static void WriteJson(Invocation invocation, byte[][] keys, WriteStatus[] statuses)
    {
        using var line = new JsonLine(invocation.Output);
        line.Writer.WriteNumber("touched"u8, statuses.Count(status => status == WriteStatus.Stored));
        line.Writer.WriteStartArray("keys"u8);
        for (int i = 0; i < keys.Length; i++)
        {
            line.Writer.WriteStartObject();
            EntryJson.WriteKey(line.Writer, keys[i]);
            line.Writer.WriteString("status"u8, statuses[i] == WriteStatus.Stored ? "touched" : WriteStatusText.Name(statuses[i]));
            line.Writer.WriteEndObject();
        }

        line.Writer.WriteEndArray();
    }
}
