using System.IO.MemoryMappedFiles;

namespace Cairn.TortureTests.Kills;

// The knowledge of all processes of a run about every key, in a file that all of them map. The death of a process leaves it unchanged.
//
//   per key   begun i64 | floor i64 | kept i64
//
//   begun   the sequence of the last write that may have begun. The key's only writer raises it before each write or removal
//   floor   the least sequence that a read may return from now on. It rises to a write's sequence when the write is acknowledged, or when a
//           process has read the written value. It rises above that sequence when a removal is acknowledged
//   kept    for a key that is never evicted: the value of this write or of a later one exists. 0 if none has to exist. It is lowered before
//           any operation that can remove the value, and raised after a write is acknowledged
//
//   I1  A reader takes the floor before the read and `begun` after it: the sequence of the value lies between the two.
internal sealed unsafe class KillJournal : IDisposable
{
    private const int BytesPerKey = 3 * sizeof(long);

    private readonly MemoryMappedFile _file;
    private readonly MemoryMappedViewAccessor _view;
    private readonly long* _words;

    public KillJournal(string path, int keys)
    {
        Keys = keys;
        _file = MemoryMappedFile.CreateFromFile(path, FileMode.OpenOrCreate, mapName: null, (long)keys * BytesPerKey);
        _view = _file.CreateViewAccessor();
        byte* pointer = null;
        _view.SafeMemoryMappedViewHandle.AcquirePointer(ref pointer);
        _words = (long*)pointer;
    }

    public int Keys { get; }

    /// <summary>Returns the sequence of a write of the key that is about to begin.</summary>
    public long Begin(int key) => Interlocked.Increment(ref _words[3 * key]);

    public long Begun(int key) => Volatile.Read(ref _words[3 * key]);

    public long Floor(int key) => Volatile.Read(ref _words[(3 * key) + 1]);

    public long Kept(int key) => Volatile.Read(ref _words[(3 * key) + 2]);

    /// <summary>Sets the sequence that must be kept. Only the key's writer calls this.</summary>
    public void Keep(int key, long sequence) => Volatile.Write(ref _words[(3 * key) + 2], sequence);

    public void RaiseFloor(int key, long sequence)
    {
        long floor;
        while ((floor = Floor(key)) < sequence)
        {
            Interlocked.CompareExchange(ref _words[(3 * key) + 1], sequence, floor);
        }
    }

    /// <summary>Records that no read may return a value written so far.</summary>
    public void ForgetAll()
    {
        for (int key = 0; key < Keys; key++)
        {
            RaiseFloor(key, Begun(key) + 1);
        }

        KeepNothing();
    }

    /// <summary>Records that no value written so far has to exist.</summary>
    public void KeepNothing()
    {
        for (int key = 0; key < Keys; key++)
        {
            Keep(key, 0);
        }
    }

    public void Dispose()
    {
        _view.SafeMemoryMappedViewHandle.ReleasePointer();
        _view.Dispose();
        _file.Dispose();
    }
}
