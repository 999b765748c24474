using System.Diagnostics;

namespace Cairn.Testing;

/// <summary>The result of a program that ran to its end.</summary>
internal sealed record ProgramRun(int ExitCode, string Output, string Errors)
{
    /// <summary>Gets both streams, for the message of a failed test.</summary>
    public string Everything => Output + Errors;

    /// <summary>Starts a program, writes its input, and waits for its end.</summary>
    public static async Task<ProgramRun> FinishAsync(ProcessStartInfo start, string input = "")
    {
        start.UseShellExecute = false;
        start.RedirectStandardInput = true;
        start.RedirectStandardOutput = true;
        start.RedirectStandardError = true;
        using var process = Process.Start(start)!;
        var output = process.StandardOutput.ReadToEndAsync();
        var errors = process.StandardError.ReadToEndAsync();
        await process.StandardInput.WriteAsync(input);
        process.StandardInput.Close();
        await process.WaitForExitAsync();
        return new ProgramRun(process.ExitCode, await output, await errors);
    }

    /// <summary>
    /// Returns the start of a program outside of the test run. It removes the test run's environment variables that would change a build in the program.
    /// </summary>
    public static ProcessStartInfo Outside(string program, string folder, params IEnumerable<string> arguments)
    {
        var start = new ProcessStartInfo(program, arguments) { WorkingDirectory = folder };
        foreach (var name in start.Environment.Keys.Where(IsOfTheTestRun).ToList())
        {
            start.Environment.Remove(name);
        }

        return start;
    }

    private static bool IsOfTheTestRun(string name) =>
        name.StartsWith("MSBUILD", StringComparison.OrdinalIgnoreCase)
        || name.StartsWith("VSTEST", StringComparison.OrdinalIgnoreCase)
        || name is "DOTNET_HOST_PATH" or "CI" or "ChecksCairn";
}
