using System.IO.MemoryMappedFiles;

namespace Cairn.Caching.Tests.Coherence;

/// <summary>Of each key, what is true and what was acknowledged, in memory that the processes of a test share.</summary>
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

    /// <summary>What a factory computes. Written by the key's one writer before he changes the key.</summary>
    public ref long Truth(int key) => ref _numbers[key];

    /// <summary>The last change that was acknowledged. Written by the key's one writer afterwards.</summary>
    public ref long Acknowledged(int key) => ref _numbers[_keys + key];

    public void Dispose()
    {
        _view.SafeMemoryMappedViewHandle.ReleasePointer();
        _view.Dispose();
        _file.Dispose();
    }
}
