using System.ComponentModel;
using System.Diagnostics;
using System.Text.RegularExpressions;
using Cairn.Benchmarks.Measuring;

namespace Cairn.Benchmarks.Server;

/// <summary>A server that the command line names.</summary>
/// <param name="Protocol">The protocol that it speaks.</param>
/// <param name="Name">Its name in reports.</param>
/// <param name="Command">The path of a program with the options of memcached or Redis, or a command line with {port}.</param>
internal sealed record NamedPeer(WireProtocol Protocol, string Name, string Command)
{
    /// <summary>Reads KIND:NAME=COMMAND; returns <see langword="null"/> for another text.</summary>
    public static NamedPeer? Parse(string text)
    {
        var match = Regex.Match(text, "^(memcached|redis):([^=]+)=(.+)$", RegexOptions.Singleline);
        return match.Success
            ? new NamedPeer(match.Groups[1].Value == "redis" ? WireProtocol.Resp : WireProtocol.Memcached, match.Groups[2].Value, match.Groups[3].Value)
            : null;
    }
}

/// <summary>Finds the servers to compare with.</summary>
internal static class ServerPeers
{
    private const string GarnetVersion = "2.2.8";

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

    /// <summary>Returns the servers that bench/fetch-peers has built below the repository's folder for results of builds.</summary>
    public static IEnumerable<NamedPeer> Fetched(string root) =>
        from peer in new[] { ("memcached", "memcached", WireProtocol.Memcached), ("Redis", "redis-server", WireProtocol.Resp), ("Valkey", "valkey-server", WireProtocol.Resp) }
        let path = Path.Combine(root, "artifacts", "peers", peer.Item2)
        where File.Exists(path)
        select new NamedPeer(peer.Item3, peer.Item1, path);

    /// <summary>Returns a server that the command line names.</summary>
    /// <exception cref="PeerUnavailableException">It cannot be run, or is of another kind.</exception>
    public static ServerProgram Named(NamedPeer peer)
    {
        if (peer.Command.Contains("{port}", StringComparison.Ordinal))
        {
            var words = peer.Command.Split(' ', StringSplitOptions.RemoveEmptyEntries);
            return new CommandProgram($"{peer.Name} {VersionOf(peer.Name, words[0])}".TrimEnd(), words[0], peer.Protocol, words[1..]);
        }

        var version = VersionOf(peer.Name, peer.Command);
        var name = $"{peer.Name} {version}".TrimEnd();
        return peer.Protocol == WireProtocol.Memcached ? new MemcachedProgram(name, peer.Command) : new RedisProgram(name, peer.Command);
    }

    // The first number with dots in what a program says of its version; empty if there is none.
    private static string VersionOf(string name, string path)
    {
        try
        {
            return VersionIn(Run(path, "--version").Output);
        }
        catch (Win32Exception failure)
        {
            throw new PeerUnavailableException(name, $"'{path}' cannot be run: {failure.Message}", failure);
        }
    }

    /// <summary>Returns the first number with dots in a text; an empty text if there is none.</summary>
    public static string VersionIn(string text) => Regex.Match(text, @"\d+(\.\d+)+[\w.-]*").Value;

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
