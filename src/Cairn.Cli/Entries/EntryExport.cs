using System.Buffers;
using System.Text.Json;
using Cairn.Cli.Output;

namespace Cairn.Cli.Entries;

// Writes the entries of a store as JSON Lines. Looking leaves no trace: nothing is counted as used, so that the store evicts and
// expires what it would have without us. Every entry that lives from beginning to end is written once; one that changes
// meanwhile appears as it is when its turn comes.
internal sealed class EntryExport(CairnStore store, ToolOutput output, CancellationToken interruption)
{
    private readonly ArrayBufferWriter<byte> _value = new();
    private readonly ArrayBufferWriter<byte> _line = new();

    /// <summary>Entries written so far: complete lines.</summary>
    public long Entries { get; private set; }

    /// <summary>Hashes of the server's, which are no values and have no form here yet; not among <see cref="Entries"/>.</summary>
    public long Hashes { get; private set; }

    /// <summary>Bytes of the values written so far.</summary>
    public long ValueBytes { get; private set; }

    /// <summary>Whether to add what is true of the entry in this store only: its version and its length.</summary>
    public bool WithFacts { get; init; }

    /// <summary>Whether to write values; with false, only what is known of them.</summary>
    public bool WithValues { get; init; } = true;

    /// <summary>Which keys; null for all.</summary>
    public KeyFilter? Filter { get; init; }

    /// <summary>Called after each entry.</summary>
    public Action? Progress { get; init; }

    /// <summary>Writes the entries of one collection.</summary>
    /// <exception cref="OperationCanceledException">Interrupted; what was written ends with a complete line.</exception>
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

    /// <summary>Writes the store's own collection and all others.</summary>
    public void WriteAll()
    {
        Write(store);
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
            return; // Gone since the scan came by.
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

        // A line goes out whole or not at all, whatever interrupts us.
        output.Write(_line.WrittenSpan);
        output.WriteLine();
        Entries++;
        ValueBytes += info.ValueBytes;
        Progress?.Invoke();
    }
}
