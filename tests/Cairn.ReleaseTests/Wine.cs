using System.Diagnostics;

namespace Cairn.ReleaseTests;

/// <summary>Runs programs for Windows on this machine. Each test class has a Windows of its own.</summary>
internal sealed class Wine : IDisposable
{
    private static readonly string[] Loaders = ["wine64", "/usr/lib/wine/wine64", "wine"];
    private static readonly string[] Servers = ["wineserver", "/usr/lib/wine/wineserver"];

    private readonly TestDirectory _prefix = new();

    /// <summary>Gets the reason why no program can run, or null if programs can run.</summary>
    public static string? WhyNot { get; } =
        !Release.IsComplete ? "takes minutes: only with CAIRN_RELEASE=1"
        : Find(Loaders) is null ? "NOT RUN: nothing here runs programs for Windows; install wine64 (apt-get install wine64)"
        : null;

    /// <summary>Creates the folder of the Windows machine, with Windows 10 on it.</summary>
    public async Task PrepareAsync()
    {
        await RunAsync("wineboot", "--init");
        var (exitCode, output) = await RunAsync("winecfg", "-v", "win10");
        Assert.True(exitCode == 0, output);
    }

    /// <summary>Returns a path of this machine in the form that programs for Windows use.</summary>
    public static string PathOf(string path) => $"Z:{path.Replace('/', '\\')}";

    /// <summary>Runs a program to its end.</summary>
    public async Task<(int ExitCode, string Output)> RunAsync(string program, params IEnumerable<string> arguments)
    {
        using Process process = Open(program, arguments);
        var errors = process.StandardError.ReadToEndAsync();
        string output = await process.StandardOutput.ReadToEndAsync();
        await process.WaitForExitAsync();
        await errors;
        return (process.ExitCode, output);
    }

    /// <summary>Starts a program. Its standard streams are redirected.</summary>
    public Process Open(string program, params IEnumerable<string> arguments) => Process.Start(Start(Loader(), [program, .. arguments]))!;

    public void Dispose()
    {
        // Ends all programs that still run in this Windows, and no others.
        using (Process server = Process.Start(Start(Find(Servers)!, "-k"))!)
        {
            server.WaitForExit();
        }

        using (Process server = Process.Start(Start(Find(Servers)!, "-w"))!)
        {
            server.WaitForExit();
        }

        _prefix.Dispose();
    }

    private ProcessStartInfo Start(string program, params IEnumerable<string> arguments)
    {
        ProcessStartInfo start = Release.StartOf(_prefix.Path, environment: null, program, arguments);
        start.RedirectStandardInput = true;
        start.Environment["WINEPREFIX"] = _prefix.Path;
        start.Environment["WINEDEBUG"] = "-all";
        start.Environment.Remove("DISPLAY");
        start.Environment["DOTNET_EnableDiagnostics"] = "0";
        return start;
    }

    private static string Loader() => Find(Loaders) ?? throw new InvalidOperationException(WhyNot);

    private static string? Find(string[] names) =>
        names.SelectMany(name => name.StartsWith('/')
                ? [name]
                : (Environment.GetEnvironmentVariable("PATH") ?? "").Split(':', StringSplitOptions.RemoveEmptyEntries).Select(folder => Path.Combine(folder, name)))
            .FirstOrDefault(File.Exists);
}
