using System.ComponentModel;
using System.Diagnostics;
using Cairn.Benchmarks.Measuring;

namespace Cairn.Benchmarks.Server;

/// <summary>Finds the servers to compare with.</summary>
internal static class ServerPeers
{
    private const string GarnetVersion = "2.2.5";

    /// <summary>Returns the memcached of this system.</summary>
    /// <exception cref="PeerUnavailableException">memcached is not installed.</exception>
    public static ServerProgram Memcached() =>
        Recognize("memcached", "memcached") as MemcachedProgram
        ?? throw new PeerUnavailableException("memcached", "there is none (Debian package memcached).");

    /// <summary>Returns the Redis of this system.</summary>
    /// <exception cref="PeerUnavailableException">Redis is not installed.</exception>
    public static ServerProgram Redis() =>
        Recognize("Redis", "redis-server") as RedisProgram
        ?? throw new PeerUnavailableException("Redis", "there is none (Debian package redis-server).");

    /// <summary>Returns Garnet, and installs it as a tool into the repository's folder if necessary.</summary>
    /// <exception cref="PeerUnavailableException">It cannot be installed.</exception>
    public static ServerProgram Garnet(string root, string runtimeFolder)
    {
        const string Name = "Garnet";
        var folder = Path.Combine(root, "artifacts", "peers", "garnet");
        var program = Path.Combine(folder, "garnet-server");
        if (!File.Exists(program))
        {
            var (exitCode, output) = Run("dotnet", "tool", "install", "garnet-server", "--version", GarnetVersion, "--tool-path", folder);
            if (exitCode != 0)
            {
                throw new PeerUnavailableException(Name, $"it cannot be installed: {output}");
            }
        }

        return new GarnetProgram($"{Name} {GarnetVersion}", program, runtimeFolder);
    }

    /// <summary>Returns a program that the command line names. Its version text tells what kind of server it is.</summary>
    /// <exception cref="PeerUnavailableException">It cannot be run, or is neither memcached nor a Redis.</exception>
    public static ServerProgram Named(string name, string path) =>
        Recognize(name, path) switch
        {
            MemcachedProgram memcached => memcached with { Name = name },
            RedisProgram redis => redis with { Name = name },
            _ => throw new PeerUnavailableException(name, $"'{path}' cannot be run, or says neither that it is memcached nor that it is a Redis."),
        };

    /// <summary>Recognises a server by its version text; returns <see langword="null"/> for an unknown program.</summary>
    public static ServerProgram? Recognize(string name, string path, string versionText)
    {
        // "memcached 1.6.18"; "Redis server v=7.0.15 sha=00000000:0 ...", "Valkey server v=9.0.0 ..."
        var words = versionText.Split(' ', StringSplitOptions.RemoveEmptyEntries | StringSplitOptions.TrimEntries);
        var version = words.FirstOrDefault(word => word.StartsWith("v=", StringComparison.Ordinal));
        return words switch
        {
            ["memcached", var number, ..] => new MemcachedProgram($"{name} {number}", path),
            _ when version is not null => new RedisProgram($"{name} {version[2..]}", path),
            _ => null,
        };
    }

    private static ServerProgram? Recognize(string name, string path)
    {
        try
        {
            return Recognize(name, path, Run(path, "--version").Output);
        }
        catch (Win32Exception)
        {
            return null;
        }
    }

    private static (int ExitCode, string Output) Run(string program, params string[] arguments)
    {
        using var process = Process.Start(new ProcessStartInfo(program, arguments) { RedirectStandardOutput = true, UseShellExecute = false })!;
        var output = process.StandardOutput.ReadToEnd().Trim();
        process.WaitForExit();
        return (process.ExitCode, output);
    }
}
