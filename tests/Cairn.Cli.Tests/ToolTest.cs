using System.Diagnostics;
using System.Text;
using System.Text.Json;

namespace Cairn.Cli.Tests;

/// <summary>The result of a run of the tool.</summary>
/// <param name="Code">The exit code.</param>
/// <param name="Bytes">The content of standard output.</param>
/// <param name="Error">The content of standard error.</param>
internal sealed record ToolRun(int Code, byte[] Bytes, string Error)
{
    public string Output => Encoding.UTF8.GetString(Bytes);

    public string[] Lines => Output.Split('\n', StringSplitOptions.RemoveEmptyEntries);

    /// <summary>Gets the only JSON object that was printed.</summary>
    public JsonElement Json => JsonDocument.Parse(Assert.Single(Lines)).RootElement;

    public IEnumerable<JsonElement> JsonLines => Lines.Select(line => JsonDocument.Parse(line).RootElement);
}

/// <summary>A test that runs the tool in this process, on a small store that is created on first use.</summary>
public abstract class ToolTest : IDisposable
{
    private readonly StoreDirectory _directory = new();

    private protected ManualClock Clock { get; } = new(hasTimers: true);

    private protected string StorePath => _directory.FilePath;

    private protected StoreOptions Options => _directory.Options with { TimeProvider = Clock };

    public void Dispose() => _directory.Dispose();

    private protected string PathOf(string name) => _directory[name];

    private protected static void MakePipe(string path)
    {
        using Process made = Process.Start("mkfifo", [path]);
        made.WaitForExit();
        Assert.Equal(0, made.ExitCode);
    }

    private protected CairnStore OpenStore() => CairnStore.Open(Options);

    /// <summary>Runs the tool on the test's store, which an environment variable names.</summary>
    private protected ToolRun Run(params string[] args) => Run([], args);

    private protected ToolRun Run(byte[] input, params string[] args) => Run(NewConsole(input), args);

    private protected static ToolRun Run(TestConsole console, params string[] args)
    {
        int code = Tool.Run(args, console);
        return new ToolRun(code, console.OutputBytes, console.ErrorText);
    }

    private protected TestConsole NewConsole(byte[]? input = null, bool isTerminal = false) => new()
    {
        Input = input ?? [],
        TestClock = Clock,
        HasOutputTerminal = isTerminal,
        HasErrorTerminal = isTerminal,
        Environment = { ["CAIRN_STORE"] = StorePath, ["TERM"] = "xterm" },
    };

    /// <summary>Creates a store of 8 MiB, so that no test creates one of the default size.</summary>
    private protected void CreateStore() => OpenStore().Dispose();
}
