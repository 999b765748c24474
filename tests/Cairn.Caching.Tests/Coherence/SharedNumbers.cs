using System.IO.MemoryMappedFiles;

namespace Cairn.Caching.Tests.Coherence;

/// <summary>The true and the acknowledged number of each key, in memory that the processes of a test share.</summary>
internal sealed unsafe class SharedNumbers : IDisposable
{
    private readonly MemoryMappedFile _file;
    private readonly MemoryMappedViewAccessor _view;
    private readonly long* _numbers;
    private readonly int _keys;

    public SharedNumbers(string path, int keys)
    {
        _keys = keys;
        _file = MemoryMappedFile.CreateFromFile(path, FileMode.OpenOrCreate, mapName: null, 2L * keys * sizeof(long));
        _view = _file.CreateViewAccessor();
        byte* start = null;
        _view.SafeMemoryMappedViewHandle.AcquirePointer(ref start);
        _numbers = (long*)start;
    }

    /// <summary>Returns the number that a factory computes. The key's only writer sets it before it changes the key.</summary>
    public ref long Truth(int key) => ref _numbers[key];

    /// <summary>Returns the number of the last acknowledged change. The key's only writer sets it afterwards.</summary>
    public ref long Acknowledged(int key) => ref _numbers[_keys + key];

    public void Dispose()
    {
        _view.SafeMemoryMappedViewHandle.ReleasePointer();
        _view.Dispose();
        _file.Dispose();
    }
}
