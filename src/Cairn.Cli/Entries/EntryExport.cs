using System.Text.Json;

namespace Cairn.Cli.Entries;

// Writes the entries of a store as JSON Lines. Reading leaves no trace: it does not count as use, so it does not change what the store
// evicts and expires. An entry that exists during the whole export is written once. One that changes meanwhile is written as it is at the
// time it is read.
internal sealed class EntryExport(CairnStore store, ToolOutput output, CancellationToken interruption)
{
    private readonly ArrayBufferWriter<byte> _value = new();
    private readonly ArrayBufferWriter<byte> _line = new();

    /// <summary>Gets the number of entries written so far, each a complete line.</summary>
    public long Entries { get; private set; }

    /// <summary>Gets the number of hashes of the server, which have no form here yet. <see cref="Entries"/> does not include them.</summary>
    public long Hashes { get; private set; }

    /// <summary>Gets the size in bytes of the values written so far.</summary>
    public long ValueBytes { get; private set; }

    /// <summary>Gets whether to write the properties that are only valid in this store: the version and the length. Default false.</summary>
    public bool WithFacts { get; init; }

    /// <summary>Gets whether to write values. Default true; false writes only their properties.</summary>
    public bool WithValues { get; init; } = true;

    /// <summary>The filter of the keys; null for all keys.</summary>
    public KeyFilter? Filter { get; init; }

    /// <summary>Runs after each entry.</summary>
    public Action? Progress { get; init; }

    /// <summary>Writes the entries of one collection.</summary>
    /// <exception cref="OperationCanceledException">The export was interrupted. The output ends with a complete line.</exception>
    public void Write(CairnCollection collection)
    {
        using var writer = new Utf8JsonWriter(_line, JsonLine.Options);
        var cursor = default(ScanCursor);
        bool isMore = true;
        while (isMore)
        {
            isMore = collection.Scan(ref cursor, Filter, (key, info) =>
            {
                interruption.ThrowIfCancellationRequested();
                WriteEntry(collection, writer, key, info);
            });
        }
    }

    /// <summary>Writes the entries of the default collection and of all others.</summary>
    public void WriteAll()
    {
        Write(store.DefaultCollection);
        foreach (string name in store.CollectionNames)
        {
            Write(store.Collection(name));
        }
    }

    private void WriteEntry(CairnCollection collection, Utf8JsonWriter writer, ReadOnlySpan<byte> key, EntryInfo info)
    {
        _value.ResetWrittenCount();
        if (WithValues && info.Type == EntryType.Hash)
        {
            Hashes++;
            return;
        }

        if (WithValues && !collection.TryPeek(key, _value, out info))
        {
            return; // The entry was removed after the scan read it.
        }

        _line.ResetWrittenCount();
        writer.Reset();
        writer.WriteStartObject();
        EntryJson.WriteCollection(writer, collection.Name);
        EntryJson.WriteKey(writer, key);
        if (WithFacts)
        {
            EntryJson.WriteFacts(writer, info);
        }

        EntryJson.WriteProperties(writer, info);
        if (WithValues)
        {
            EntryJson.WriteValue(writer, _value.WrittenSpan);
        }

        writer.WriteEndObject();
        writer.Flush();

        // A line is written completely or not at all, even after an interruption.
        output.Write(_line.WrittenSpan);
        output.WriteLine();
        Entries++;
        ValueBytes += info.ValueBytes;
        Progress?.Invoke();
    }
}
