using System.Diagnostics;
using System.Diagnostics.CodeAnalysis;
using System.Globalization;
using System.Text;

namespace Cairn.Redis.Tests.Servers;

/// <summary>A redis-server on a port of its own. It can be ended and started again.</summary>
[SuppressMessage("Usage", "CA2213:Disposable fields should be disposed", Justification = "Kill does, each time the server ends.")]
internal sealed class RedisServer : IDisposable
{
    /// <summary>The time-outs of a client that waits as long as a busy machine needs.</summary>
    public const string Patience = ",connectTimeout=60000,syncTimeout=60000,asyncTimeout=60000";

    private readonly TestDirectory _directory = new();
    private readonly string[] _settings;
    private ServerProgram? _program;

    private RedisServer(int port, string[] settings)
    {
        Port = port;
        _settings = settings;
    }

    public int Port { get; }

    public string Address => string.Create(CultureInfo.InvariantCulture, $"127.0.0.1:{Port}");

    /// <summary>Gets a configuration for Cairn's client and StackExchange.Redis, with time-outs that only a failed test reaches.</summary>
    public string Configuration => Address + Patience;

    public int ProcessId => _program!.Id;

    public static RedisServer Start(params string[] settings)
    {
        var server = new RedisServer(FreePorts.Take(), settings);
        server.Run();
        return server;
    }

    /// <summary>Starts the program, and returns when it accepts connections.</summary>
    public void Run()
    {
        string[] arguments =
        [
            "--port", Port.ToString(CultureInfo.InvariantCulture), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no",
            "--dir", _directory.Path, .. _settings,
        ];
        _program = ServerProgram.Start("redis-server", arguments, "Ready to accept connections");
    }

    public void Kill()
    {
        _program?.Dispose();
        _program = null;
    }

    /// <summary>Runs redis-cli with a command. Returns its output.</summary>
    public string Cli(params string[] words) => Cli(input: null, words);

    /// <summary>Runs redis-cli with a command whose last word comes from its input. Returns its output.</summary>
    public string Cli(byte[]? input, params string[] words) => Cli(Port, input, words);

    /// <summary>Runs redis-cli with a command for the server on a port. Returns its output.</summary>
    public static string Cli(int port, byte[]? input, params string[] words) =>
        Run(["-p", port.ToString(CultureInfo.InvariantCulture), .. input is null ? Array.Empty<string>() : ["-x"], .. words], input ?? []);

    /// <summary>Runs redis-cli with the commands of several lines. Returns its output.</summary>
    public static string Cli(int port, string commands) => Run(["-p", port.ToString(CultureInfo.InvariantCulture)], Encoding.UTF8.GetBytes(commands));

    public void Dispose()
    {
        Kill();
        _directory.Dispose();
    }

    private static string Run(string[] arguments, byte[] input)
    {
        var start = new ProcessStartInfo("redis-cli")
        {
            RedirectStandardOutput = true,
            RedirectStandardInput = true,
            UseShellExecute = false,
        };
        foreach (string argument in arguments)
        {
            start.ArgumentList.Add(argument);
        }

        using Process process = Process.Start(start)!;
        process.StandardInput.BaseStream.Write(input);
        process.StandardInput.Close();
        string output = process.StandardOutput.ReadToEnd();
        process.WaitForExit();
        return output.TrimEnd('\n');
    }
}
