using System.Diagnostics;
using System.Runtime.InteropServices;

namespace Cairn.Cli.Tests;

/// <summary>The tool as a child process, with pipes for its streams. It ends with the test.</summary>
internal sealed partial class ToolProcess : IDisposable
{
    public const int Interrupt = 2;
    public const int Kill = 9;
    public const int Terminate = 15;

    private readonly Process _process;

    private ToolProcess(ProcessStartInfo start) => _process = Process.Start(start)!;

    public int Id => _process.Id;

    public StreamWriter Input => _process.StandardInput;

    public StreamReader Output => _process.StandardOutput;

    /// <summary>Gets the command line that starts the tool that was built with these tests.</summary>
    public static string[] Command { get; } =
    [
        Environment.ProcessPath is { } path && Path.GetFileNameWithoutExtension(path) == "dotnet" ? path : "dotnet",
        "exec",
        Path.Combine(AppContext.BaseDirectory, "Cairn.Cli.dll"),
    ];

    // A test run in the background ignores SIGINT, one under nohup ignores SIGHUP, and children inherit that. This resets both.
    public static ToolProcess Start(params string[] args) => StartProgram("env", ["--default-signal=INT,HUP", .. Command, .. args]);

    public static ToolProcess StartProgram(string program, params string[] args)
    {
        var start = new ProcessStartInfo(program, args)
        {
            UseShellExecute = false,
            RedirectStandardInput = true,
            RedirectStandardOutput = true,
            RedirectStandardError = true,
            Environment = { ["TERM"] = "xterm" },
        };
        return new ToolProcess(start);
    }

    /// <summary>Runs the tool with all of its input and waits for its end.</summary>
    public static ToolRun Run(byte[] input, params string[] args)
    {
        using ToolProcess process = Start(args);
        return process.Finish(input);
    }

    public ToolRun Finish(byte[]? input = null)
    {
        Task write = Task.Run(() =>
        {
            try
            {
                _process.StandardInput.BaseStream.Write(input ?? []);
                _process.StandardInput.Close();
            }
            catch (IOException)
            {
                // The tool ended without reading all input.
            }
        });
        var output = new MemoryStream();
        Task<string> error = _process.StandardError.ReadToEndAsync();
        Output.BaseStream.CopyTo(output);
        _process.WaitForExit();
        Wait(write);
        return new ToolRun(_process.ExitCode, output.ToArray(), Result(error));
    }

    public void Signal(int signal) => Send(_process.Id, signal);

    public static void Send(int process, int signal) => Assert.Equal(0, NativeKill(process, signal));

    /// <summary>Reads the next line of standard error.</summary>
    public string ReadErrorLine() => _process.StandardError.ReadLine() ?? "";

    /// <summary>Returns whether the tool ends within this time.</summary>
    public bool ExitsWithin(TimeSpan time) => _process.WaitForExit(time);

    /// <summary>Waits for the end. Returns the exit code and the rest of standard error.</summary>
    public (int Code, string Error) WaitForExit()
    {
        string error = _process.StandardError.ReadToEnd();
        _process.WaitForExit();
        return (_process.ExitCode, error);
    }

    public void Dispose()
    {
        if (!_process.HasExited)
        {
            _process.Kill();
            _process.WaitForExit();
        }

        _process.Dispose();
    }

#pragma warning disable VSTHRD002 // A test has no synchronization context that this could wait for.
    private static void Wait(Task task) => task.Wait();

    private static T Result<T>(Task<T> task) => task.Result;
#pragma warning restore VSTHRD002

    [LibraryImport("libc", EntryPoint = "kill")]
    [DefaultDllImportSearchPaths(DllImportSearchPath.SafeDirectories)]
    private static partial int NativeKill(int process, int signal);
}
