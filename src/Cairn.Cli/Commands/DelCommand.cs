using Cairn.Cli.Entries;

namespace Cairn.Cli.Commands;

internal sealed class DelCommand : ToolCommand
{
    private readonly Argument<string[]> _keys = new("KEY") { Description = "The keys.", Arity = ArgumentArity.ZeroOrMore };
    private readonly Flag _all = new("--all", "Remove everything in the collection, at once.");

    public DelCommand(SharedOptions shared)
        : base("del", "Removes the values of keys.")
    {
        Add(_keys);
        Add(_all);
        Add(shared.Collection);
        Add(shared.KeyBase64);
    }

    public override IReadOnlyList<Example> Examples { get; } =
    [
        new("cairn del --store books.cairn book:42", "Removes one value."),
        new("cairn del --store books.cairn book:42 book:43", "Removes several."),
        new("cairn keys --store books.cairn --prefix book: --null | xargs -0 cairn del --store books.cairn --", "Removes all keys with the same prefix."),
        new("cairn del --store books.cairn --collection sessions --all", "Empties a collection."),
    ];

    public override string JsonShape =>
        """{"removed": how many, "keys": [{"key", "removed": true or false}]}; with --all {"cleared": true or false}.""";

    public override string MeaningOfNo => "a key had no value; those that had one are removed";

    public override int Run(Invocation invocation)
    {
        byte[][] keys = invocation.ReadKeys(_keys);
        bool isAll = invocation.Get(_all);
        if (isAll == keys.Length > 0)
        {
            throw ToolException.Usage(isAll ? "--all removes everything, so no key may be named" : "which keys? Name them, or give --all");
        }

        using CairnStore store = invocation.OpenExisting();
        CairnCollection? collection = invocation.FindCollection(store);
        return isAll ? Clear(invocation, collection) : Remove(invocation, collection, keys);
    }

    private static int Clear(Invocation invocation, CairnCollection? collection)
    {
        bool isCleared = collection is null || collection.Clear();
        if (invocation.IsJson)
        {
            using var line = new JsonLine(invocation.Output);
            line.Writer.WriteBoolean("cleared"u8, isCleared);
        }

        if (!isCleared)
        {
            invocation.Tell("a part could not be cleared: a stopped process holds its lock; continue or end it");
        }

        return isCleared ? ExitCode.Done : ExitCode.Store;
    }

    private static int Remove(Invocation invocation, CairnCollection? collection, byte[][] keys)
    {
        bool[] isRemoved = [.. keys.Select(key => collection is not null && collection.Remove(key))];
        int removed = isRemoved.Count(value => value);
        if (invocation.IsJson)
        {
            using var line = new JsonLine(invocation.Output);
            line.Writer.WriteNumber("removed"u8, removed);
            line.Writer.WriteStartArray("keys"u8);
            for (int i = 0; i < keys.Length; i++)
            {
                line.Writer.WriteStartObject();
                EntryJson.WriteKey(line.Writer, keys[i]);
                line.Writer.WriteBoolean("removed"u8, isRemoved[i]);
                line.Writer.WriteEndObject();
            }

            line.Writer.WriteEndArray();
        }
        else
        {
            for (int i = 0; i < keys.Length; i++)
            {
                if (!isRemoved[i])
                {
                    invocation.Tell($"{KeyText.Quote(keys[i])} has no value");
                }
            }
        }

        return removed == keys.Length ? ExitCode.Done : ExitCode.No;
    }
}
