using Cairn.Platform;

namespace Cairn.Cli.Output;

// Writes a file beside its target and replaces the target when the file is complete. A reader of the target finds either the old file or
// the new one, never a partial one, also if the process is interrupted.
//
// A process that is killed leaves its file. A living process holds the lock of its file. So the next command with this target deletes the
// files without a lock (docs/decisions/0009-a-kernel-lock-proves-liveness.md).
internal sealed class ReplacedFile : IDisposable
{
    private const string Suffix = ".part";

    private readonly string _path;
    private readonly string? _temporary;
    private readonly FileStream _file;
    private bool _isFinished;

    private ReplacedFile(string path, string? temporary, FileStream file)
    {
        _path = path;
        _temporary = temporary;
        _file = file;
        Stream = new NamedStream(file, path);
    }

    public Stream Stream { get; }

    /// <summary>Refuses a device, a pipe or a socket, because the rename of a new file would replace it.</summary>
    /// <exception cref="IOException">The path is not that of a file.</exception>
    public static void RequireFile(string path)
    {
        if (HostPlatform.Current.IsSpecialFile(path))
        {
            throw new IOException("it is not a file but a device, pipe or socket");
        }
    }

    /// <summary>Refuses a name with the character that the runtime substitutes for bytes that are not UTF-8: it is the name of another file.</summary>
    /// <exception cref="ToolException">The name contained such bytes.</exception>
    public static void RequireName(string name)
    {
        if (name.Contains('\uFFFD', StringComparison.Ordinal))
        {
            throw ToolException.Usage($"the name '{name}' has bytes that are not UTF-8; give the file another name, or a link to it");
        }
    }

    /// <summary>Creates a file. Devices and pipes (also <c>&gt;(command)</c> of shells) are written directly.</summary>
    /// <exception cref="ToolException">The file cannot be written.</exception>
    public static ReplacedFile Create(string path)
    {
        RequireName(path);
        try
        {
            if (HostPlatform.Current.IsSpecialFile(path))
            {
                return new ReplacedFile(path, null, new FileStream(path, FileMode.Open, FileAccess.Write, FileShare.ReadWrite, 0));
            }

            // A symbolic link stays and points to the new file.
            string target = new FileInfo(path).LinkTarget is null
                ? Path.GetFullPath(path)
                : File.ResolveLinkTarget(path, returnFinalTarget: true)!.FullName;
            if (Directory.Exists(target))
            {
                throw new ToolException(ExitCode.File, $"'{path}' is a directory, not a file to write to");
            }

            bool isThere = File.Exists(target);
            RemoveAbandoned(target);
            string temporary = string.Create(CultureInfo.InvariantCulture, $"{target}.{Environment.ProcessId}{Suffix}");
            var options = new FileStreamOptions { Mode = FileMode.Create, Access = FileAccess.Write, Share = FileShare.None, BufferSize = 0 };
            if (!OperatingSystem.IsWindows())
            {
                // Data of a store belongs to its owner, so only the owner may read a new file. An existing file keeps its mode.
                options.UnixCreateMode = isThere ? File.GetUnixFileMode(target) : UnixFileMode.UserRead | UnixFileMode.UserWrite;
            }

            while (true)
            {
                var file = new FileStream(temporary, options);
                if (File.Exists(temporary))
                {
                    return new ReplacedFile(target, temporary, file);
                }

                file.Dispose(); // Another process locked the file first, and deleted it.
            }
        }
        catch (Exception failure) when (failure is IOException or UnauthorizedAccessException)
        {
            throw NotWritten(path, failure);
        }
    }

    /// <summary>Replaces the target with the complete file.</summary>
    /// <exception cref="ToolException">The disk failed. The target is unchanged.</exception>
    public void Commit()
    {
        if (_temporary is not null)
        {
            try
            {
                HostPlatform.Current.FlushFile(_file.SafeFileHandle, $"'{_path}'");
                _file.Dispose();
                File.Move(_temporary, _path, overwrite: true);
            }
            catch (Exception failure) when (failure is IOException or UnauthorizedAccessException)
            {
                throw NotWritten(_path, failure);
            }
        }

        _isFinished = true;
    }

    public void Dispose()
    {
        _file.Dispose();
        if (!_isFinished && _temporary is not null)
        {
            File.Delete(_temporary);
        }
    }

    private static void RemoveAbandoned(string target)
    {
        string prefix = Path.GetFileName(target) + ".";
        foreach (string path in TemporaryNames.FindBetween(Path.GetDirectoryName(target)!, prefix, Suffix))
        {
            ReadOnlySpan<char> process = Path.GetFileName(path.AsSpan())[prefix.Length..^Suffix.Length];
            if (!int.TryParse(process, NumberStyles.None, CultureInfo.InvariantCulture, out _))
            {
                continue;
            }

            try
            {
                new FileStream(path, FileMode.Open, FileAccess.Write, FileShare.None, 0, FileOptions.DeleteOnClose).Dispose();
            }
            catch (Exception e) when (e is IOException or UnauthorizedAccessException)
            {
                // Its process is alive, or it belongs to another user.
            }
        }
    }

    private static ToolException NotWritten(string path, Exception failure) =>
        new(ExitCode.File, $"'{path}' cannot be written: {failure.Message}", failure);

    // Its errors name the target, and no caller takes them for those of a connection. .NET reports a file that is too large as an argument out of range.
    private sealed class NamedStream(FileStream file, string path) : WriteOnlyStream
    {
        // False after the file was closed. A buffer that is disposed later then flushes nothing.
        public override bool CanWrite => file.CanWrite;

        public override void Write(byte[] buffer, int offset, int count) => Write(buffer.AsSpan(offset, count));

        public override void Write(ReadOnlySpan<byte> buffer)
        {
            try
            {
                file.Write(buffer);
            }
            catch (ArgumentOutOfRangeException e)
            {
                throw ToolException.TooLarge(path, e);
            }
            catch (IOException failure)
            {
                throw NotWritten(path, failure);
            }
        }

        public override void Flush() => file.Flush();
    }
}
