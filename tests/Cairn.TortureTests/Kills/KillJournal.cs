using System.IO.MemoryMappedFiles;

namespace Cairn.TortureTests.Kills;

// What every process of a run knows of every key: a file that all map, which the death of any of them leaves as it was.
//
//   per key   begun i64 | floor i64 | kept i64
//
//   begun   sequence of the last write that may have begun; raised by the key's only writer before each write or removal
//   floor   no value of an earlier write may be read from now on: raised to a write's sequence when it is acknowledged, or when
//           somebody has read what it wrote; above it, when a removal is acknowledged
//   kept    of a key that is never evicted: this write's value, or that of a later one, is there; 0 if none need be. Lowered before whatever may
//           take the value away, raised after what puts one there is acknowledged
//
//   I1  Whoever reads takes the floor before and `begun` after the read: what was read lies between the two.
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

    /// <summary>The sequence of a write of the key that is about to begin.</summary>
    public long Begin(int key) => Interlocked.Increment(ref _words[3 * key]);

    public long Begun(int key) => Volatile.Read(ref _words[3 * key]);

    public long Floor(int key) => Volatile.Read(ref _words[(3 * key) + 1]);

    public long Kept(int key) => Volatile.Read(ref _words[(3 * key) + 2]);

    /// <summary>By the key's only writer.</summary>
    public void Keep(int key, long sequence) => Volatile.Write(ref _words[(3 * key) + 2], sequence);

    public void RaiseFloor(int key, long sequence)
    {
        long floor;
        while ((floor = Floor(key)) < sequence)
        {
            Interlocked.CompareExchange(ref _words[(3 * key) + 1], sequence, floor);
        }
    }

    /// <summary>Nothing that was written so far may be read again.</summary>
    public void ForgetAll()
    {
        for (int key = 0; key < Keys; key++)
        {
            RaiseFloor(key, Begun(key) + 1);
        }

        KeepNothing();
    }

    /// <summary>Nothing that was written so far need be there.</summary>
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
