using Microsoft.Extensions.Logging;

namespace Cairn.Cli.Serving;

/// <summary>
/// A file to which a log is appended. SIGHUP opens it again, so that logrotate can move it away. Until the new file is open, the server
/// writes to the old one.
/// </summary>
internal sealed class LogFile : IDisposable
{
    private readonly string _path;
    private readonly ServerLogWriter _log;
    private readonly PosixSignalRegistration? _hangup;

    /// <summary>Opens the file and redirects the log to it.</summary>
    /// <exception cref="IOException">The file cannot be opened.</exception>
    /// <exception cref="UnauthorizedAccessException">The process may not open the file.</exception>
    public LogFile(string path, ServerLogWriter log)
    {
        _path = Path.GetFullPath(path);
        _log = log;
        log.Redirect(Open());
        if (!OperatingSystem.IsWindows())
        {
            _hangup = PosixSignalRegistration.Create(PosixSignal.SIGHUP, OnHangup);
        }
    }

    public void Dispose()
    {
        _hangup?.Dispose();
        _log.Redirect(null);
    }

    private StreamWriter Open()
    {
        // Other processes may move, read and remove the file.
        var stream = new FileStream(_path, FileMode.Append, FileAccess.Write, FileShare.ReadWrite | FileShare.Delete, bufferSize: 0);
        return new StreamWriter(stream, new UTF8Encoding(false)) { AutoFlush = true, NewLine = "\n" };
    }

    private void OnHangup(PosixSignalContext context)
    {
        context.Cancel = true;
        try
        {
            _log.Redirect(Open());
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException)
        {
            _log.Write(LogLevel.Error, $"The log file '{_path}' cannot be opened again: {e.Message} The log continues in the old one.");
        }
    }
}
