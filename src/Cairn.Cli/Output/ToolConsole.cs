namespace Cairn.Cli.Output;

/// <summary>What the tool sees of the world besides files: its streams, whether people look at them, the time, the signals.</summary>
internal abstract class ToolConsole
{
    /// <summary>What <see cref="TryReadKey"/> gives for the arrow keys.</summary>
    public const char UpKey = '↑';

    /// <inheritdoc cref="UpKey"/>
    public const char DownKey = '↓';

    public abstract ToolOutput Output { get; }

    public abstract TextWriter Error { get; }

    public abstract bool IsInputTerminal { get; }

    public abstract bool IsOutputTerminal { get; }

    public abstract bool IsErrorTerminal { get; }

    /// <summary>Columns of the terminal.</summary>
    public abstract int Width { get; }

    /// <summary>Lines of the terminal.</summary>
    public abstract int Height { get; }

    public virtual TimeProvider Clock => TimeProvider.System;

    /// <summary>
    /// Ends when the user presses Ctrl-C or the process is asked to terminate. A command that takes this has to end soon after;
    /// without it, such a signal ends the process at once. A second signal does so in any case.
    /// </summary>
    public abstract CancellationToken Interruption { get; }

    /// <summary>What to exit with once <see cref="Interruption"/> has ended.</summary>
    public virtual int InterruptedCode => ExitCode.Interrupted;

    /// <summary>Standard input. Its reads end with an exception when <see cref="Interruption"/> does.</summary>
    public abstract Stream OpenInput();

    /// <summary>How long standard input is, if that is known, as of a file; otherwise 0.</summary>
    public virtual long InputBytes => 0;

    /// <summary>A key that was pressed and not read yet; null if there is none, or no keyboard.</summary>
    public virtual char? TryReadKey() => null;

    public abstract string? GetEnvironmentVariable(string name);

    /// <summary>The names of all environment variables.</summary>
    public abstract IEnumerable<string> EnvironmentVariableNames { get; }

    /// <summary>Waits, also for the interruption, which is an <see cref="OperationCanceledException"/>.</summary>
    public virtual void Wait(TimeSpan time)
    {
        Interruption.WaitHandle.WaitOne(time);
        Interruption.ThrowIfCancellationRequested();
    }
}
