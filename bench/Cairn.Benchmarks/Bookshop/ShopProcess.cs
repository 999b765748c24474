using System.Diagnostics;
using System.Globalization;
using System.Text.Json;
using System.Text.RegularExpressions;
using Cairn.Benchmarks.Server;

namespace Cairn.Benchmarks.Bookshop;

/// <summary>The API of samples/Bookshop with one read path, on the core of the servers.</summary>
internal sealed partial class ShopProcess : IDisposable
{
    // Longer than a run, so that cached values do not expire during it.
    private const string CacheFor = "02:00:00";

    private static readonly TimeSpan _longestStop = TimeSpan.FromSeconds(15);

    private readonly Process _process;
    private readonly HttpClient _client = new();
    private readonly Task _output;

    private ShopProcess(Process process, Uri address)
    {
        _process = process;

        // Discards the rest of the output, so that the process does not block on a full pipe.
        _output = process.StandardOutput.BaseStream.CopyToAsync(Stream.Null);
        Address = address;
    }

    public int Id => _process.Id;

    public Uri Address { get; }

    /// <summary>Starts the API and waits until it listens. The API fills the database if it is empty.</summary>
    /// <exception cref="InvalidOperationException">The process ended before it listened.</exception>
    public static ShopProcess Start(RunSettings settings, string path, string connectionString, string? redis, int books)
    {
        var program = Path.Combine(settings.Root, "samples", "Bookshop", "bin", "Release", "net10.0", "Bookshop.dll");
        var start = new ProcessStartInfo(
            "taskset", ["-c", ServerProcess.Core.ToString(CultureInfo.InvariantCulture), "dotnet", "exec", program, "--urls", "http://127.0.0.1:0"])
        {
            RedirectStandardOutput = true,
            UseShellExecute = false,
        };
        start.Environment["ConnectionStrings__Bookshop"] = connectionString;
        start.Environment["Bookshop__ReadPath"] = path;
        start.Environment["Bookshop__CacheFor"] = CacheFor;
        start.Environment["Bookshop__Books"] = books.ToString(CultureInfo.InvariantCulture);
        start.Environment["Bookshop__StoreFile"] = Path.Combine(settings.Folder, path + ".cairn");
        start.Environment["Bookshop__Redis"] = redis ?? string.Empty;
        var process = Process.Start(start)!;
        var said = new List<string>();
        while (process.StandardOutput.ReadLine() is { } line)
        {
            if (Listening().Match(line) is { Success: true } match)
            {
                return new ShopProcess(process, new Uri(match.Groups[1].Value));
            }

            said.Add(line);
        }

        process.WaitForExit();
        throw new InvalidOperationException($"The API with {path} ended: {string.Join(' ', said)}");
    }

    /// <summary>Returns the processor time and the allocated bytes since the start of the process.</summary>
    public (double CpuSeconds, double AllocatedBytes) Statistics()
    {
        using var request = new HttpRequestMessage(HttpMethod.Get, new Uri(Address, "/statistics"));
        using var response = _client.Send(request);
        using var document = JsonDocument.Parse(response.Content.ReadAsStream());
        return (document.RootElement.GetProperty("cpuSeconds").GetDouble(), document.RootElement.GetProperty("allocatedBytes").GetDouble());
    }

    public void Dispose()
    {
        _client.Dispose();
        if (!_process.HasExited)
        {
            using var signal = Process.Start("kill", ["-TERM", Id.ToString(CultureInfo.InvariantCulture)]);
            if (!_process.WaitForExit(_longestStop))
            {
                _process.Kill();
            }
        }

        _process.WaitForExit();
        SpinWait.SpinUntil(() => _output.IsCompleted, _longestStop);
        _process.Dispose();
    }

    [GeneratedRegex(@"Now listening on: (http://[\d.]+:\d+)")]
    private static partial Regex Listening();
}
