namespace Cairn.Cli.Serving;

/// <summary>
/// A file with the number of the process. At the start it is written beside its target, so that an error is reported before a store is
/// created. It is moved to the target when clients can connect. The server removes it at its end.
/// </summary>
internal sealed class PidFile : IDisposable
{
    private readonly string _path;
    private readonly string _temporary;
    private bool _isPublished;

    /// <summary>Writes the number beside the target.</summary>
    /// <exception cref="IOException">The file cannot be written.</exception>
    /// <exception cref="UnauthorizedAccessException">The process may not write the file.</exception>
    public PidFile(string path)
    {
        _path = path;
        _temporary = path + ".part";
        File.WriteAllText(_temporary, string.Create(CultureInfo.InvariantCulture, $"{Environment.ProcessId}\n"));
    }

    /// <summary>Moves the file to its target, so that a program that finds it always finds a complete number.</summary>
    public void Publish()
    {
        File.Move(_temporary, _path, overwrite: true);
        _isPublished = true;
    }

    public void Dispose() => File.Delete(_isPublished ? _path : _temporary);
}
