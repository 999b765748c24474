namespace Cairn.Testing;

/// <summary>A new, empty directory that goes with all it holds when its test ends.</summary>
internal sealed class TestDirectory : IDisposable
{
    /// <summary>Makes one below <paramref name="parent"/>, or where the system keeps temporary files.</summary>
    public TestDirectory(string? parent = null) =>
        Path = Directory
            .CreateDirectory(System.IO.Path.Combine(parent ?? System.IO.Path.GetTempPath(), $"cairn-{Guid.NewGuid():N}"))
            .FullName;

    public string Path { get; }

    public string this[string name] => System.IO.Path.Combine(Path, name);

    public IEnumerable<string> FileNames => Directory.GetFiles(Path).Select(file => System.IO.Path.GetFileName(file)!);

    public void Dispose() => Directory.Delete(Path, recursive: true);
}
