using System.Globalization;

namespace Cairn.Redis.Tests.Servers;

/// <summary>Microsoft's Garnet, a server with Redis' protocol that is distributed as a .NET tool.</summary>
internal sealed class GarnetServer : IDisposable
{
    private readonly ServerProgram _program;

    private GarnetServer(ServerProgram program, int port)
    {
        _program = program;
        Configuration = string.Create(CultureInfo.InvariantCulture, $"127.0.0.1:{port}{RedisServer.Patience}");
    }

    /// <summary>Gets the path of the program: on the PATH, or where the benchmarks install it. Null if it is not installed.</summary>
    public static string? Path { get; } = (Environment.GetEnvironmentVariable("PATH") ?? "")
        .Split(System.IO.Path.PathSeparator, StringSplitOptions.RemoveEmptyEntries)
        .Append(RepositoryFile.At("artifacts", "peers", "garnet"))
        .Select(directory => System.IO.Path.Combine(directory, "garnet-server"))
        .FirstOrDefault(File.Exists);

    public string Configuration { get; }

    public static GarnetServer Start()
    {
        int port = FreePorts.Take();
        string[] arguments = ["--bind", "127.0.0.1", "--port", port.ToString(CultureInfo.InvariantCulture), "--memory", "64m", "--index", "16m"];
        return new GarnetServer(ServerProgram.Start(Path!, arguments, "Ready to accept connections"), port);
    }

    public void Dispose() => _program.Dispose();
}

/// <summary>A fact that needs Garnet. Garnet is not a package of the system, so without it the test is skipped everywhere.</summary>
[AttributeUsage(AttributeTargets.Method)]
internal sealed class RequiresGarnetFactAttribute : FactAttribute
{
    public RequiresGarnetFactAttribute() => Skip = GarnetServer.Path is null
        ? "garnet-server is missing: dotnet tool install garnet-server --version 2.2.5 --tool-path artifacts/peers/garnet"
        : null;
}
