using System.Diagnostics;

namespace Cairn.Testing;

/// <summary>
/// A second process of a test: the test assembly itself, started again with arguments that its Main understands. The test and the child exchange lines
/// over the child's standard input and output. A child ends when its input ends, so that it does not outlive the test run.
/// </summary>
internal sealed class ChildProcess : IDisposable
{
    private readonly Process _process;
    private bool _isKilled;

    private ChildProcess(Process process) => _process = process;

    public int Id => _process.Id;

    public bool HasEnded => _process.HasExited;

    /// <summary>Starts the assembly that contains <paramref name="program"/> with these arguments.</summary>
    public static ChildProcess Start(Type program, params string[] arguments) => StartUnder([], program, arguments);

    /// <summary>Starts the assembly through a command that runs the rest of its command line, such as <c>nice</c>.</summary>
    public static ChildProcess StartUnder(IReadOnlyList<string> command, Type program, params string[] arguments)
    {
        // An assembly that was published with its own runtime is its own host. Under an emulator of another processor, the system cannot start it, so
        // a variable has the whole command.
        string? self = Environment.ProcessPath;
        string name = Path.GetFileNameWithoutExtension(self) ?? "";
        string[] emulated = Environment.GetEnvironmentVariable("CAIRN_TEST_HOST")?.Split(' ') ?? [];
        bool isOwnHost = emulated.Length > 0 || name == program.Assembly.GetName().Name;
        string host = self is not null && (isOwnHost || name == "dotnet") ? self : "dotnet";
        command = [.. command, .. emulated.Length > 0 ? emulated : [host]];
        var start = new ProcessStartInfo(command[0])
        {
            UseShellExecute = false,
            RedirectStandardInput = true,
            RedirectStandardOutput = true,
        };

        // Otherwise each killed child leaves the runtime's pipes and sockets for debuggers among the temporary files.
        start.Environment["DOTNET_EnableDiagnostics"] = "0";
        foreach (string word in command.Skip(1))
        {
            start.ArgumentList.Add(word);
        }

        if (!isOwnHost)
        {
            start.ArgumentList.Add("exec");
            start.ArgumentList.Add(program.Assembly.Location);
        }

        foreach (string argument in arguments)
        {
            start.ArgumentList.Add(argument);
        }

        return new ChildProcess(Process.Start(start)!);
    }

    /// <summary>Waits for the child's next line and returns it.</summary>
    /// <exception cref="InvalidOperationException">The child ended instead.</exception>
    public string ReadLine() =>
        _process.StandardOutput.ReadLine() ??
        throw new InvalidOperationException("The child process ended without the line that was expected.");

    /// <summary>Waits for the child's next line. Returns null if the child ended instead.</summary>
    public string? TryReadLine() => _process.StandardOutput.ReadLine();

    /// <summary>Waits until the child has ended and the kernel has released its resources.</summary>
    public void WaitForExit() => _process.WaitForExit();

    public void WriteLine(string line)
    {
        _process.StandardInput.WriteLine(line);
        _process.StandardInput.Flush();
    }

    /// <summary>Kills the child (SIGKILL) without waiting for its end. <see cref="Kill"/> waits.</summary>
    public void BeginKill() => _process.Kill();

    /// <summary>Kills the child (SIGKILL) and returns when the kernel has released its resources.</summary>
    public void Kill()
    {
        _isKilled = true;
        _process.Kill();
        _process.WaitForExit();
    }

    /// <summary>Ends the child's input, waits for its end and returns its exit code.</summary>
    public int Finish()
    {
        _process.StandardInput.Close();
        _process.WaitForExit();
        return _process.ExitCode;
    }

    public void Dispose()
    {
        if (!_isKilled && !_process.HasExited)
        {
            Kill();
        }

        _process.Dispose();
    }
}
