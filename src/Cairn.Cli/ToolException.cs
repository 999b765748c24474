namespace Cairn.Cli;

/// <summary>Ends a command with a message and an exit code.</summary>
internal sealed class ToolException : Exception
{
    public ToolException(int exitCode, string message, Exception? innerException = null)
        : base(message, innerException) => ExitCode = exitCode;

    public int ExitCode { get; }

    public static ToolException Usage(string message) => new(Cli.ExitCode.Usage, message);

    /// <summary>Creates the exception for a file that the system refuses to make longer.</summary>
    public static ToolException TooLarge(string path, Exception cause) =>
        new(Cli.ExitCode.File, $"The file '{path}' exceeds the limit of this process ('ulimit -f') or of the file system.", cause);

    /// <summary>Creates the exception for a thread, or for memory, that the system refuses.</summary>
    public static ToolException Refused(int exitCode) => new(
        exitCode,
        "The system refuses a thread or memory. Raise the limits ('ulimit -u' and 'ulimit -v', or the processes and the memory of the container), or end other programs.");

    /// <summary>Creates the exception for random numbers that the system refuses.</summary>
    public static ToolException NoRandomNumbers(int exitCode) => new(
        exitCode, "The system provides no random numbers, without which the tool creates no store and starts no server. Make sure that this process can read /dev/urandom.");

    /// <summary>Creates the exception for an open file, a pipe or a socket that the system refuses because there are too many.</summary>
    public static ToolException NoFile(int exitCode) => new(
        exitCode,
        "The system refuses another open file. Raise the limit of this process ('ulimit -n 1024' in the shell, LimitNOFILE=1024 in a unit of systemd, --ulimit nofile=1024 for a container), or that of the machine (fs.file-max).");
}
