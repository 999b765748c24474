namespace Cairn.Cli.Output;

/// <summary>The tool's access to its environment except files: streams, terminals, the time and signals.</summary>
internal abstract class ToolConsole
{
    /// <summary>The character that <see cref="TryReadKey"/> returns for an arrow key.</summary>
    public const char UpKey = '↑';

    /// <inheritdoc cref="UpKey"/>
    public const char DownKey = '↓';

    public abstract ToolOutput Output { get; }

    public abstract TextWriter Error { get; }

    public abstract bool IsInputTerminal { get; }

    public abstract bool IsOutputTerminal { get; }

    public abstract bool IsErrorTerminal { get; }

    /// <summary>Gets the number of columns of the terminal.</summary>
    public abstract int Width { get; }

    /// <summary>Gets the number of lines of the terminal.</summary>
    public abstract int Height { get; }

    public virtual TimeProvider Clock => TimeProvider.System;

    /// <summary>
    /// Gets a token that is cancelled when the user presses Ctrl-C or the process is asked to terminate. A command that gets the token must
    /// end soon after that. If no command has got it, such a signal ends the process at once. A second signal always does.
    /// </summary>
    public abstract CancellationToken Interruption { get; }

    /// <summary>Gets the exit code after <see cref="Interruption"/> was cancelled.</summary>
    public virtual int InterruptedCode => ExitCode.Interrupted;

    /// <summary>Opens standard input. When <see cref="Interruption"/> is cancelled, its reads throw an exception.</summary>
    public abstract Stream OpenInput();

    /// <summary>Gets the length of standard input in bytes if it is known, for example for a file; otherwise 0.</summary>
    public virtual long InputBytes => 0;

    /// <summary>Returns a key that was pressed; null if there is none, or no keyboard.</summary>
    public virtual char? TryReadKey() => null;

    public abstract string? GetEnvironmentVariable(string name);

    /// <summary>Gets the names of all environment variables.</summary>
    public abstract IEnumerable<string> EnvironmentVariableNames { get; }

    /// <summary>Waits. Throws an <see cref="OperationCanceledException"/> if an interruption occurs.</summary>
    public virtual void Wait(TimeSpan time)
    {
        Interruption.WaitHandle.WaitOne(time);
        Interruption.ThrowIfCancellationRequested();
    }
}
