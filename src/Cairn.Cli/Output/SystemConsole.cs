using Microsoft.Win32.SafeHandles;

namespace Cairn.Cli.Output;

/// <summary>The process's own streams and signals. Each is initialized at its first use, so that simple commands start quickly.</summary>
internal sealed class SystemConsole : ToolConsole, IDisposable
{
    private const int WidthOfUnknownTerminal = 80;
    private const int HeightOfUnknownTerminal = 24;
    private const int FileSizeSignal = 25; // SIGXFSZ of Linux and macOS.

    private readonly CancellationTokenSource _interruption = new();
    private PosixSignalRegistration[]? _signals;
    private TextWriter? _error;
    private int _interruptedCode = ExitCode.Interrupted;

    public override ToolOutput Output { get; } = new(Open(DescriptorStream.StandardOutput));

    // Writes whole lines at once, in order, so that they are not lost if the process is killed afterwards.
    public override TextWriter Error => _error ??= new StreamWriter(Open(DescriptorStream.StandardError), new UTF8Encoding(false), 256) { AutoFlush = true, NewLine = "\n" };

    public override bool IsInputTerminal => !Console.IsInputRedirected;

    public override bool IsOutputTerminal => !Console.IsOutputRedirected;

    public override bool IsErrorTerminal => !Console.IsErrorRedirected;

    public override int Width => Console.WindowWidth is > 0 and var width ? width : WidthOfUnknownTerminal;

    public override int Height => Console.WindowHeight is > 0 and var height ? height : HeightOfUnknownTerminal;

    public override int InterruptedCode => _interruptedCode;

    public override long InputBytes
    {
        get
        {
            if (IsInputTerminal || OperatingSystem.IsWindows())
            {
                return 0;
            }

            using var handle = new SafeFileHandle(0, ownsHandle: false);
            using var input = new FileStream(handle, FileAccess.Read, bufferSize: 0);
            return input.CanSeek ? input.Length : 0;
        }
    }

    public override CancellationToken Interruption
    {
        get
        {
            _signals ??=
            [
                PosixSignalRegistration.Create(PosixSignal.SIGINT, OnSignal),
                PosixSignalRegistration.Create(PosixSignal.SIGTERM, OnSignal),

                // Without a handler, a log file or an export that reaches 'ulimit -f' ends the process. With it, the write fails.
                .. OperatingSystem.IsWindows()
                    ? (PosixSignalRegistration[])[]
                    : [PosixSignalRegistration.Create((PosixSignal)FileSizeSignal, context => context.Cancel = true)],
            ];
            return _interruption.Token;
        }
    }

    public override Stream OpenInput() => new InterruptibleInput(Console.OpenStandardInput(), Interruption);

    public override char? TryReadKey()
    {
        if (!IsInputTerminal || !Console.KeyAvailable)
        {
            return null;
        }

        ConsoleKeyInfo pressed = Console.ReadKey(intercept: true);
        return pressed.Key switch
        {
            ConsoleKey.UpArrow => UpKey,
            ConsoleKey.DownArrow => DownKey,
            _ => pressed.KeyChar,
        };
    }

    public override string? GetEnvironmentVariable(string name) => Environment.GetEnvironmentVariable(name);

    public override IEnumerable<string> EnvironmentVariableNames => Environment.GetEnvironmentVariables().Keys.Cast<string>();

    public void Dispose()
    {
        foreach (PosixSignalRegistration signal in _signals ?? [])
        {
            signal.Dispose();
        }

        _interruption.Dispose();
    }

    private static Stream Open(int descriptor) =>
        !OperatingSystem.IsWindows() ? new DescriptorStream(descriptor)
        : descriptor == DescriptorStream.StandardOutput ? Console.OpenStandardOutput()
        : Console.OpenStandardError();

    private void OnSignal(PosixSignalContext context)
    {
        // The second signal is not cancelled, so it ends the process.
        context.Cancel = !_interruption.IsCancellationRequested;
        _interruptedCode = context.Signal == PosixSignal.SIGTERM ? ExitCode.Terminated : ExitCode.Interrupted;
        _interruption.Cancel();
    }
}
