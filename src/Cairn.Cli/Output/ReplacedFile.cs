namespace Cairn.Cli.Output;

// A file that is written beside its place and takes it when it is complete: whoever reads the place finds the old file or
// the new one, never half of one, also if the writing is interrupted.
internal sealed class ReplacedFile : IDisposable
{
    private readonly string _path;
    private readonly string? _temporary;
    private bool _isFinished;

    private ReplacedFile(string path, string? temporary, Stream stream)
    {
        _path = path;
        _temporary = temporary;
        Stream = stream;
    }

    public Stream Stream { get; }

    /// <summary>Begins a file. What is below /dev (devices, and what shells make of <c>&gt;(command)</c>) is written to directly.</summary>
    /// <exception cref="ToolException">It cannot be written there.</exception>
    public static ReplacedFile Create(string path)
    {
        try
        {
            if (IsDevice(path))
            {
                return new ReplacedFile(path, null, new FileStream(path, FileMode.Open, FileAccess.Write, FileShare.ReadWrite, 0));
            }

            // A link stays, and leads to the new file.
            string target = new FileInfo(path).LinkTarget is null
                ? Path.GetFullPath(path)
                : File.ResolveLinkTarget(path, returnFinalTarget: true)!.FullName;
            if (Directory.Exists(target))
            {
                throw new ToolException(ExitCode.File, $"'{path}' is a directory, not a file to write to");
            }

            bool isThere = File.Exists(target);
            string temporary = $"{target}.{Environment.ProcessId}.part";
            var options = new FileStreamOptions { Mode = FileMode.Create, Access = FileAccess.Write, BufferSize = 0 };
            if (!OperatingSystem.IsWindows())
            {
                // What a store holds is its owner's, so the file is too, unless somebody decided otherwise.
                options.UnixCreateMode = isThere ? File.GetUnixFileMode(target) : UnixFileMode.UserRead | UnixFileMode.UserWrite;
            }

            return new ReplacedFile(target, temporary, new FileStream(temporary, options));
        }
        catch (Exception failure) when (failure is IOException or UnauthorizedAccessException)
        {
            throw new ToolException(ExitCode.File, $"'{path}' cannot be written: {failure.Message}", failure);
        }
    }

    /// <summary>Puts the file, complete now, into its place.</summary>
    public void Commit()
    {
        if (_temporary is not null)
        {
            ((FileStream)Stream).Flush(flushToDisk: true);
            Stream.Dispose();
            File.Move(_temporary, _path, overwrite: true);
        }

        _isFinished = true;
    }

    public void Dispose()
    {
        Stream.Dispose();
        if (!_isFinished && _temporary is not null)
        {
            File.Delete(_temporary);
        }
    }

    // Files in memory are below /dev too, and are files like any other.
    private static bool IsDevice(string path) =>
        Path.GetFullPath(path) is var full && full.StartsWith("/dev/", StringComparison.Ordinal)
        && !full.StartsWith("/dev/shm/", StringComparison.Ordinal);
}
