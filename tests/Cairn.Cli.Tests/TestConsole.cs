using System.Text;
using Cairn.Cli.Output;

namespace Cairn.Cli.Tests;

/// <summary>The tool's environment in a test: streams in memory, a clock that stands still, and signals and keys from the test.</summary>
internal sealed class TestConsole : ToolConsole, IDisposable
{
    private readonly CancellationTokenSource _interruption = new();
    private readonly StringWriter _error = new() { NewLine = "\n" };
    private readonly Stream _output;

    public TestConsole(Stream? output = null)
    {
        _output = output ?? new MemoryStream();
        Output = new ToolOutput(_output);
    }

    public override ToolOutput Output { get; }

    public override TextWriter Error => _error;

    public override bool IsInputTerminal => false;

    public override bool IsOutputTerminal => HasOutputTerminal;

    public override bool IsErrorTerminal => HasErrorTerminal;

    public override int Width => ScreenWidth;

    public override int Height => ScreenHeight;

    public int ScreenWidth { get; set; } = 100;

    public int ScreenHeight { get; set; } = 30;

    public override TimeProvider Clock => TestClock;

    public override CancellationToken Interruption => FailedSignals is null ? _interruption.Token : throw FailedSignals;

    public override int InterruptedCode => Signal;

    /// <summary>Gets or sets the exception of the runtime when it cannot handle signals.</summary>
    public Exception? FailedSignals { get; set; }

    public ManualClock TestClock { get; init; } = new(hasTimers: true);

    public bool HasOutputTerminal { get; init; }

    public bool HasErrorTerminal { get; init; }

    public int Signal { get; set; } = ExitCode.Interrupted;

    public byte[] Input { get; init; } = [];

    public Dictionary<string, string> Environment { get; } = new(StringComparer.Ordinal);

    /// <summary>Gets the keys that count as pressed.</summary>
    public Queue<char> Keys { get; } = [];

    /// <summary>Gets or sets the action that runs while the tool waits.</summary>
    public Action? Waiting { get; set; }

    public byte[] OutputBytes => ((MemoryStream)_output).ToArray();

    public string OutputText => Encoding.UTF8.GetString(OutputBytes);

    public string ErrorText => _error.ToString();

    public void Dispose()
    {
        _interruption.Dispose();
        _error.Dispose();
    }

    public void Interrupt() => _interruption.Cancel();

    public override Stream OpenInput() => new MemoryStream(Input);

    public override string? GetEnvironmentVariable(string name) => Environment.GetValueOrDefault(name);

    public override IEnumerable<string> EnvironmentVariableNames => Environment.Keys;

    public override char? TryReadKey() => Keys.TryDequeue(out char key) ? key : null;

    public override void Wait(TimeSpan time)
    {
        Waiting?.Invoke();
        TestClock.Advance(time);
        Interruption.ThrowIfCancellationRequested();
    }
}
