using System.Text;
using Cairn.Platform;
using Cairn.Storage;
using Cairn.WriteAhead;

namespace Cairn.Testing;

/// <summary>The content of a store's log, read from its files: the values of collections with text keys.</summary>
internal sealed unsafe class LogReplay
{
    public Dictionary<(uint Collection, string Key), byte[]> Entries { get; } = [];

    public List<LogKind> Kinds { get; } = [];

    public long End { get; private set; }

    public static LogReplay Of(string storePath)
    {
        var replay = new LogReplay();
        LogFileSet files = LogFileSet.Find(HostPlatform.Current, storePath);
        if (files.Snapshot is not null)
        {
            using LogReader snapshot = LogFileSet.Open(HostPlatform.Current, files.Snapshot);
            while (snapshot.TryRead(out LogRecord record))
            {
                replay.Apply(record);
            }
        }

        IReadOnlyList<LogFileInfo> pieces = files.From(files.Start);
        for (int i = 0; i < pieces.Count; i++)
        {
            using LogReader reader = LogFileSet.Open(HostPlatform.Current, pieces[i]);
            if (i > 0)
            {
                Assert.Equal(replay.End, reader.Header.StartPosition);
            }
            else
            {
                reader.Seek(Math.Max(files.Start, reader.Header.StartPosition));
            }

            while (reader.TryRead(out LogRecord record))
            {
                replay.Kinds.Add(record.Kind);
                replay.Apply(record);
            }

            replay.End = reader.Position;
        }

        return replay;
    }

    /// <summary>Checks that the collections hold exactly the content of the log (StoreLog I3).</summary>
    public static void Check(CairnStore store, params CairnCollection[] collections)
    {
        LogReplay replay = Of(store.Path);
        var held = new Dictionary<(uint Collection, string Key), byte[]>();
        foreach (CairnCollection collection in collections)
        {
            foreach (string key in KeysOf(collection))
            {
                held[(collection.Number, key)] = collection.Get(key)!;
            }
        }

        Assert.Equal(held.Keys.Order(), replay.Entries.Keys.Order());
        Assert.All(held, entry => Assert.Equal(entry.Value, replay.Entries[entry.Key]));
    }

    private static IEnumerable<string> KeysOf(CairnCollection collection) =>
        collection.Entries().Select(entry => entry.KeyText).Distinct();

    private void Apply(in LogRecord record)
    {
        switch (record.Kind)
        {
            case LogKind.Put:
                fixed (byte* body = record.Body)
                {
                    var entry = new EntryView(body);
                    Assert.True(entry.IsWithin(record.Body.Length));
                    string key = Encoding.UTF8.GetString(entry.Key, entry.KeyLength);
                    Entries[(record.Collection, key)] = new ReadOnlySpan<byte>(entry.Value, (int)entry.ValueLength).ToArray();
                }

                break;

            case LogKind.Remove:
                Entries.Remove((record.Collection, Encoding.UTF8.GetString(record.Body)));
                break;

            case LogKind.Clear:
                uint cleared = record.Collection;
                foreach ((uint Collection, string Key) key in Entries.Keys.Where(key => cleared == LogRecord.AllCollections || key.Collection == cleared).ToList())
                {
                    Entries.Remove(key);
                }

                break;

            case LogKind.Transaction:
                foreach (LogRecord operation in record)
                {
                    Apply(operation);
                }

                break;

            default:
                break;
        }
    }
}
