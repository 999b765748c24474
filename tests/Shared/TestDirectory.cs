namespace Cairn.Testing;

/// <summary>A new, empty directory. Its disposal deletes it with its content.</summary>
internal sealed class TestDirectory : IDisposable
{
    /// <summary>Creates a directory below <paramref name="parent"/>, or in the system's folder for temporary files.</summary>
    public TestDirectory(string? parent = null) =>
        Path = Directory
            .CreateDirectory(System.IO.Path.Combine(parent ?? System.IO.Path.GetTempPath(), $"cairn-{Guid.NewGuid():N}"))
            .FullName;

    /// <summary>Gets a parent in memory, or null if the system has none.</summary>
    public static string? OfMemory { get; } = Directory.Exists("/dev/shm") ? "/dev/shm" : null;

    public string Path { get; }

    public string this[string name] => System.IO.Path.Combine(Path, name);

    public IEnumerable<string> FileNames => Directory.GetFiles(Path).Select(file => System.IO.Path.GetFileName(file)!);

    public void Dispose() => Directory.Delete(Path, recursive: true);
}
