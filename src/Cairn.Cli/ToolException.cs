namespace Cairn.Cli;

/// <summary>Ends a command with a message and an exit code.</summary>
internal sealed class ToolException : Exception
{
    public ToolException(int exitCode, string message, Exception? innerException = null)
        : base(message, innerException) => ExitCode = exitCode;

    public int ExitCode { get; }

    public static ToolException Usage(string message) => new(Cli.ExitCode.Usage, message);

    /// <summary>Creates the exception for a thread, or for memory, that the system refuses.</summary>
    public static ToolException Refused(int exitCode) => new(
        exitCode,
        "The system refuses a thread or memory. Raise the limits ('ulimit -u' and 'ulimit -v', or the processes and the memory of the container), or end other programs.");
}
