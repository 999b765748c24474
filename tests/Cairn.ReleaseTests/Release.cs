using System.Diagnostics;

namespace Cairn.ReleaseTests;

/// <summary>Runs programs that create a release, or that use one.</summary>
internal static class Release
{
    /// <summary>Gets whether release/build creates everything that is released, which takes minutes.</summary>
    public static bool IsComplete { get; } = Environment.GetEnvironmentVariable("CAIRN_RELEASE") == "1";

    /// <summary>Runs a program to its end and returns its output.</summary>
    /// <exception cref="InvalidOperationException">The exit code of the program was not 0.</exception>
    public static async Task<string> RunAsync(string directory, string program, params IEnumerable<string> arguments)
    {
        var run = await TryRunAsync(directory, environment: null, program, arguments);
        return run.ExitCode == 0
            ? run.Output
            : throw new InvalidOperationException($"{program} {string.Join(' ', arguments)}: {run.ExitCode}\n{run.Everything}");
    }

    /// <summary>Runs a program. <paramref name="environment"/>, unless null, replaces all environment variables.</summary>
    public static Task<ProgramRun> TryRunAsync(
        string directory, Dictionary<string, string>? environment, string program, params IEnumerable<string> arguments) =>
        ProgramRun.FinishAsync(StartOf(directory, environment, program, arguments));

    public static ProcessStartInfo StartOf(
        string directory, Dictionary<string, string>? environment, string program, params IEnumerable<string> arguments)
    {
        var start = ProgramRun.Outside(program, directory, arguments);
        start.UseShellExecute = false;
        start.RedirectStandardOutput = true;
        start.RedirectStandardError = true;
        if (environment is not null)
        {
            start.Environment.Clear();
            foreach (var (name, value) in environment)
            {
                start.Environment[name] = value;
            }
        }

        return start;
    }
}
