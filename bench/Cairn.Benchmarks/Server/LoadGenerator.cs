using System.ComponentModel;
using System.Diagnostics;
using System.Globalization;
using System.Text;

namespace Cairn.Benchmarks.Server;

/// <summary>The program that loads servers, compiled from its source. It is written in C so that it costs less than what it measures.</summary>
internal sealed class LoadGenerator
{
    /// <summary>The core of the load generator; servers have the core before it.</summary>
    public const int Core = 1;

    private readonly string _program;
    private readonly bool _isRealTime;

    private LoadGenerator(string program, bool isRealTime)
    {
        _program = program;
        _isRealTime = isRealTime;
    }

    /// <summary>Compiles the program: with io_uring if its library is installed, else with epoll.</summary>
    /// <exception cref="InvalidOperationException">There is no C compiler, or it failed.</exception>
    public static LoadGenerator Build(string root, string folder, bool isRealTime, RunLog log)
    {
        var source = Path.Combine(root, "bench", "loadgen", "loadgen.c");
        var program = Path.Combine(folder, "loadgen");
        if (TryCompile([source, "-O2", "-DWITH_URING", "-o", program, "-luring"]) is { } withoutRing)
        {
            log.Say("The load generator is built without io_uring (Debian package liburing-dev): it costs more and loads less.");
            if (TryCompile([source, "-O2", "-o", program]) is { } message)
            {
                throw new InvalidOperationException($"The load generator cannot be compiled: {message} {withoutRing}");
            }
        }

        return new LoadGenerator(program, isRealTime);
    }

    /// <summary>Sets every key and reads some of them.</summary>
    public void SetKeys(ServerAddress server, WireProtocol protocol, int keys, int valueBytes = 100) =>
        Run([.. Where(server), .. Dialect(protocol), "-L", "-k", Text(keys), "-v", Text(valueBytes)]);

    /// <summary>Loads a server without measuring. The load runs at ordinary priority, so that the server's compiler also gets time on the
    /// server's core.</summary>
    public void WarmUp(ServerProcess server, WireProtocol protocol, Workload workload, int keys, double seconds) =>
        Load(server, protocol, workload, keys, seconds, isRealTime: false);

    /// <summary>Loads a server for <paramref name="seconds"/> and measures it.</summary>
    public LoadResult Measure(ServerProcess server, WireProtocol protocol, Workload workload, int keys, double seconds) =>
        Load(server, protocol, workload, keys, seconds, _isRealTime);

    private LoadResult Load(
        ServerProcess server, WireProtocol protocol, Workload workload, int keys, double seconds, bool isRealTime)
    {
        List<string> arguments =
        [
            .. Where(server.Address), .. Dialect(protocol), "-S", Text(server.Id), "-k", Text(keys), "-c", Text(workload.Connections),
            "-P", Text(workload.Depth), "-s", Text(workload.SetPercent), "-v", Text(workload.ValueBytes), "-d", seconds.ToString(CultureInfo.InvariantCulture),
        ];
        if (workload.IsMultiget)
        {
            arguments.Add("-G");
        }

        if (workload.IsMiss)
        {
            arguments.Add("-m");
        }

        if (workload.IsMeta)
        {
            arguments.Add("-M");
        }

        if (workload.IsBinary)
        {
            arguments.Add("-B");
        }

        if (isRealTime)
        {
            arguments.Add("-F");
        }

        var result = LoadResult.Parse(Run(arguments));
        return result.Failures == 0
            ? result
            : throw new InvalidDataException($"{result.Failures} replies were not what was expected.");
    }

    private static string[] Where(ServerAddress server) => server.UnixPath is { } path ? ["-U", path] : ["-p", Text(server.Port)];

    private static string[] Dialect(WireProtocol protocol) => protocol == WireProtocol.Resp ? ["-R"] : [];

    private string Run(IEnumerable<string> arguments)
    {
        var start = new ProcessStartInfo("taskset", ["-c", Text(Core), _program, .. arguments])
        {
            RedirectStandardOutput = true,
            RedirectStandardError = true,
            UseShellExecute = false,
        };
        using var process = Process.Start(start)!;
        var errors = new StringBuilder();
        process.ErrorDataReceived += (_, line) => errors.AppendLine(line.Data);
        process.BeginErrorReadLine();
        var output = process.StandardOutput.ReadToEnd();
        process.WaitForExit();
        return process.ExitCode == 0 ? output : throw new InvalidOperationException(errors.ToString().Trim());
    }

    // Returns the compiler's output, or null if it succeeded.
    private static string? TryCompile(IEnumerable<string> arguments)
    {
        try
        {
            using var compiler = Process.Start(new ProcessStartInfo("cc", arguments) { RedirectStandardError = true, UseShellExecute = false })!;
            var errors = compiler.StandardError.ReadToEnd();
            compiler.WaitForExit();
            return compiler.ExitCode == 0 ? null : errors.Trim();
        }
        catch (Win32Exception)
        {
            return "there is no C compiler (Debian package gcc).";
        }
    }

    private static string Text(int number) => number.ToString(CultureInfo.InvariantCulture);
}
