using System.Diagnostics;
using System.Globalization;
using System.Text;

namespace Cairn.Soak.Running;

/// <summary>A second process that has the store of a server open: this program with other arguments. The run kills it from time to time.</summary>
internal sealed class EmbeddedWorker : IDisposable
{
    public const string Role = "embedded";

    private const int Keys = 2_000;
    private const int PinsAtOnce = 8;
    private static readonly TimeSpan Interval = TimeSpan.FromMilliseconds(5);

    private readonly Process _process;

    private EmbeddedWorker(Process process) => _process = process;

    /// <summary>Starts a process and waits until it has opened the store.</summary>
    public static EmbeddedWorker Start(string storePath, int seed)
    {
        string self = Environment.ProcessPath!;
        string[] arguments = [Role, storePath, seed.ToString(CultureInfo.InvariantCulture)];
        bool isHost = Path.GetFileNameWithoutExtension(self) == "dotnet";
        var start = new ProcessStartInfo(self, isHost ? ["exec", typeof(EmbeddedWorker).Assembly.Location, .. arguments] : arguments)
        {
            UseShellExecute = false,
            RedirectStandardInput = true,
            RedirectStandardOutput = true,
        };
        Process process = Process.Start(start)!;
        if (process.StandardOutput.ReadLine() != "open")
        {
            process.Dispose();
            throw new InvalidOperationException($"A second process could not open {storePath}.");
        }

        return new EmbeddedWorker(process);
    }

    /// <summary>Runs the work of the started process until its input ends.</summary>
    public static void Work(string storePath, int seed)
    {
        var random = new Random(seed);
        using CairnStore store = CairnStore.Open(new StoreOptions { Path = storePath });
        CairnCollection cache = store.DefaultCollection;
        Console.WriteLine("open");
        using var stop = new ManualResetEventSlim();
        var input = new Thread(() =>
        {
            Console.In.ReadToEnd();
            stop.Set();
        })
        {
            IsBackground = true,
        };
        input.Start();
        var pins = new Queue<PinnedValue>();
        while (!stop.Wait(Interval))
        {
            string key = "embedded:" + random.Next(Keys).ToString(CultureInfo.InvariantCulture);
            switch (random.Next(6))
            {
                case 0:
                    cache.Remove(key);
                    break;
                case 1:
                    if (cache.AcquireLease(key, TimeSpan.Zero, out StoreLease? lease) == LeaseStatus.Acquired)
                    {
                        lease!.Dispose();
                    }

                    break;
                case 2:
                    if (cache.TryPin(key, out PinnedValue? pinned))
                    {
                        pins.Enqueue(pinned);
                    }

                    break;
                default:
                    cache.Set(key, Encoding.ASCII.GetBytes(new string('e', random.Next(5_000))), TimeSpan.FromSeconds(random.Next(1, 120)));
                    break;
            }

            // The process holds pins all the time, so that a killed process leaves pins behind.
            while (pins.Count > PinsAtOnce)
            {
                pins.Dequeue().Dispose();
            }
        }

        while (pins.TryDequeue(out PinnedValue? left))
        {
            left.Dispose();
        }
    }

    /// <summary>Ends the process in good order. Returns its exit code.</summary>
    public int Finish()
    {
        _process.StandardInput.Close();
        _process.WaitForExit();
        return _process.ExitCode;
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
}
