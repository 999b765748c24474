namespace Cairn.Cli;

/// <summary>Ends a command with a message and an exit code.</summary>
internal sealed class ToolException : Exception
{
    public ToolException(int exitCode, string message, Exception? innerException = null)
        : base(message, innerException) => ExitCode = exitCode;

    public int ExitCode { get; }

    public static ToolException Usage(string message) => new(Cli.ExitCode.Usage, message);
}
