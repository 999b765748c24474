using System.Diagnostics;
using System.IO.MemoryMappedFiles;
using System.Runtime.InteropServices;

namespace Cairn.TortureTests.Histories;

// The operations of one thread of one worker, in a file of its own that is mapped into memory. Writing is as fast as memory, and every
// stored byte survives a kill of the worker. (The kernel keeps the pages; x64, and arm64 with release stores, keep the order.)
//
// A record begins before the operation and is completed after it. The last record of a killed worker may be incomplete: it is pending.
internal sealed unsafe class Journal : IDisposable
{
    private const int RecordBytes = 48;

    private readonly MemoryMappedFile _file;
    private readonly MemoryMappedViewAccessor _view;
    private readonly byte* _start;
    private readonly int _capacity;
    private readonly int _worker;
    private int _count;

    private Journal(MemoryMappedFile file, int capacity, int worker)
    {
        _file = file;
        _view = file.CreateViewAccessor();
        _capacity = capacity;
        _worker = worker;
        byte* start = null;
        _view.SafeMemoryMappedViewHandle.AcquirePointer(ref start);
        _start = start;
    }

    public int Room => _capacity - _count;

    public static Journal Create(string path, int capacity, int worker) =>
        new(MemoryMappedFile.CreateFromFile(path, FileMode.CreateNew, null, (long)capacity * RecordBytes), capacity, worker);

    /// <summary>
    /// Reads a journal. Operations without an end get <paramref name="deathTime"/>, because they happened before it or not at all.
    /// </summary>
    /// <remarks>Of the pending operations, only writes are returned, unless <paramref name="hasAllPending"/> is set.</remarks>
    public static List<Operation> Read(string path, int worker, long deathTime = long.MaxValue, bool hasAllPending = false)
    {
        byte[] bytes = File.ReadAllBytes(path);
        var operations = new List<Operation>();
        foreach (ref readonly Record record in MemoryMarshal.Cast<byte, Record>(bytes.AsSpan(0, bytes.Length / RecordBytes * RecordBytes)))
        {
            if (record.Start == 0)
            {
                break;
            }

            bool isPending = record.End == 0;
            Effect effect = isPending ? record.Intended : record.Effect;
            if (effect == Effect.None || (isPending && effect != Effect.Wrote && !hasAllPending))
            {
                continue;
            }

            operations.Add(new Operation(
                record.Key, effect, record.Value, record.Start, isPending ? deathTime : record.End, worker, isPending));
        }

        return operations;
    }

    /// <summary>Begins the record of a change. The change is the code between this call and <see cref="End"/>.</summary>
    public void Begin(int key, Effect intended, long value)
    {
        Record* record = Next();
        record->Key = key;
        record->Intended = intended;
        record->Value = value;
        Volatile.Write(ref record->Start, Stopwatch.GetTimestamp());
    }

    /// <summary>Completes the record with the effect of the operation.</summary>
    public void End(Effect effect)
    {
        long now = Stopwatch.GetTimestamp();
        Record* record = Next();
        record->Effect = effect;
        Volatile.Write(ref record->End, now);
        _count++;
    }

    /// <summary>Records an operation that has ended.</summary>
    public void Add(int key, Effect effect, long value, long start, long end)
    {
        Record* record = Next();
        record->Key = key;
        record->Effect = effect;
        record->Value = value;
        record->End = end;
        Volatile.Write(ref record->Start, start);
        _count++;
    }

    public IEnumerable<Operation> Operations()
    {
        for (int i = 0; i < _count; i++)
        {
            Record record = RecordAt(i);
            if (record.Effect != Effect.None)
            {
                yield return new Operation(record.Key, record.Effect, record.Value, record.Start, record.End, _worker);
            }
        }
    }

    public void Dispose()
    {
        _view.SafeMemoryMappedViewHandle.ReleasePointer();
        _view.Dispose();
        _file.Dispose();
    }

    private Record RecordAt(int index) => *(Record*)(_start + ((long)index * RecordBytes));

    private Record* Next() => _count < _capacity
        ? (Record*)(_start + ((long)_count * RecordBytes))
        : throw new InvalidOperationException("The journal is full.");

    [StructLayout(LayoutKind.Explicit, Size = RecordBytes)]
    private struct Record
    {
        [FieldOffset(0)] public long Start;
        [FieldOffset(8)] public long End;
        [FieldOffset(16)] public long Value;
        [FieldOffset(24)] public int Key;
        [FieldOffset(28)] public Effect Intended;
        [FieldOffset(32)] public Effect Effect;
    }
}
