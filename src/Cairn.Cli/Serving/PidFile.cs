using Microsoft.Extensions.Logging;

namespace Cairn.Cli.Serving;

/// <summary>
/// A file with the number of the process. At the start it is written beside its target, so that an error is reported before a store is
/// created. It is moved to the target when clients can connect. The server removes it at its end.
/// </summary>
internal sealed class PidFile : IDisposable
{
    private readonly string _path;
    private readonly string _temporary;
    private readonly ServerLogWriter _log;
    private bool _isPublished;

    /// <summary>Writes the number beside the target.</summary>
    /// <exception cref="IOException">The file cannot be written.</exception>
    /// <exception cref="UnauthorizedAccessException">The process may not write the file.</exception>
    public PidFile(string path, ServerLogWriter log)
    {
        _path = path;
        _temporary = path + ".part";
        _log = log;
        try
        {
            File.WriteAllText(_temporary, string.Create(CultureInfo.InvariantCulture, $"{Environment.ProcessId}\n"));
        }
        catch (Exception e) when (e is IOException or ArgumentOutOfRangeException)
        {
            Dispose(); // The disk may be full, or the limit on file sizes reached, after the file was created.
            throw;
        }
    }

    /// <summary>Moves the file to its target, so that a program that finds it always finds a complete number.</summary>
    /// <exception cref="IOException">The file cannot be moved.</exception>
    /// <exception cref="UnauthorizedAccessException">The process may not move the file.</exception>
    public PidFile Publish()
    {
        File.Move(_temporary, _path, overwrite: true);
        _isPublished = true;
        return this;
    }

    /// <summary>Removes the file. If it cannot be removed, the log says so.</summary>
    public void Dispose()
    {
        string path = _isPublished ? _path : _temporary;
        try
        {
            File.Delete(path);
        }
        catch (Exception failure) when (failure is IOException or UnauthorizedAccessException)
        {
            _log.Write(LogLevel.Warning, $"The file '{path}' with the number of this process cannot be removed: {failure.Message}");
        }
    }
}
