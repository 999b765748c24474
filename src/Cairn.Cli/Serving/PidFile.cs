using System.Globalization;

namespace Cairn.Cli.Serving;

/// <summary>
/// A file with the process' number. It is written beside its place when the server begins to start, so that a place that cannot be written is known before
/// a store is created, and takes its place when clients can connect. It ends with the server.
/// </summary>
internal sealed class PidFile : IDisposable
{
    private readonly string _path;
    private readonly string _temporary;
    private bool _isPublished;

    /// <summary>Writes the number beside the place of the file.</summary>
    /// <exception cref="IOException">It cannot be written.</exception>
    /// <exception cref="UnauthorizedAccessException">It may not be written.</exception>
    public PidFile(string path)
    {
        _path = path;
        _temporary = path + ".part";
        File.WriteAllText(_temporary, string.Create(CultureInfo.InvariantCulture, $"{Environment.ProcessId}\n"));
    }

    /// <summary>Gives the file its name: a program that finds it finds the number in it.</summary>
    public void Publish()
    {
        File.Move(_temporary, _path, overwrite: true);
        _isPublished = true;
    }

    public void Dispose() => File.Delete(_isPublished ? _path : _temporary);
}
