using System.Net;
using System.Net.Sockets;
using Cairn.Cli.Serving;
using Cairn.Dashboard;
using Cairn.Platform;
using Cairn.Server;
using Microsoft.Extensions.Logging;

namespace Cairn.Cli.Commands;

internal sealed class ServeCommand : ToolCommand
{
    public const string CommandName = "serve";
    public const string ConfigVariable = "CAIRN_CONFIG";
    public const string LogFormatVariable = "CAIRN_LOG_FORMAT";

    private const string JournalVariable = "JOURNAL_STREAM";
    private const string HttpListener = "http";
    private const string PortFileVariable = "MEMCACHED_PORT_FILENAME";
    private const int UserSignal = 10; // SIGUSR1, with which memcached's -e stops.

    private readonly IReadOnlyList<ServeSetting> _settings = ServeSettings.Create();

    private readonly MemcachedFlags _memcachedFlags = new();

    private readonly Option<string?> _config = new("--config")
    {
        HelpName = "FILE",
        Description = "A JSON file with settings, which have the names of these options: {\"memcached\": \"127.0.0.1:11211\", \"max-value\": \"1MiB\"}.",
    };

    private readonly Flag _check = new("--check", "Only check the configuration, as a start does before it opens anything.");
    private readonly Option<string?> _logFormat = new("--log-format") { HelpName = "FORMAT", Description = "text, json or journal. Default text, or journal under systemd." };
    private readonly Option<string?> _otlp = new("--otlp")
    {
        HelpName = "URL",
        Description = "Send metrics to this OpenTelemetry collector over OTLP: http://127.0.0.1:4318. Default: OTEL_EXPORTER_OTLP_ENDPOINT, or off.",
    };

    private readonly Flag _verbose = new("--verbose", "Log more.");
    private readonly Option<string?> _pidFile = new("--pid-file") { HelpName = "FILE", Description = "Write the process id to this file when clients can connect." };

    private readonly Option<string?> _logFile = new("--log-file") { HelpName = "FILE", Description = "Append the log to this file instead of standard error. SIGHUP opens the file again." };
    private readonly Flag _detach = new("--detach", "Continue in the background when clients can connect. The log goes to --log-file, or is discarded.");
    private readonly Flag _version = new("-V", "Print the version.");
    private readonly Flag _license = new("-i", "Print the license.");

    public ServeCommand()
        : base(CommandName, "Serves a store to memcached and Redis clients.")
    {
        foreach (ServeSetting setting in _settings)
        {
            Add(setting.Option);
        }

        foreach (Option flag in _memcachedFlags.Options)
        {
            Add(flag);
        }

        _verbose.Aliases.Add("-v");
        _pidFile.Aliases.Add("-P");
        _pidFile.Aliases.Add("--pidfile");
        _version.Aliases.Add("--version");
        _license.Aliases.Add("--license");
        Add(_config);
        Add(_check);
        Add(_logFormat);
        Add(_otlp);
        Add(_verbose);
        Add(_pidFile);
        _detach.Aliases.Add("-d");
        _detach.Aliases.Add("--daemon");
        Add(_logFile);
        Add(_detach);
        Add(_version);
        Add(_license);
    }

    public override string Details =>
        "Without options it serves memcached clients on 127.0.0.1:11211 and Redis clients on 127.0.0.1:6379. The store is a file in the current user's data folder, so it is warm after a restart or a crash. Clients of both protocols see the same keys. The dashboard at http://127.0.0.1:8080 shows metrics, keys and slow requests. Every option can also be set by an environment variable (CAIRN_MAX_VALUE for --max-value) or in a file. Options override variables, and variables override the file. The server runs until Ctrl-C or SIGTERM and then finishes the requests that it has received. Other processes can use the store meanwhile.";

    public override IEnumerable<IGrouping<string, Option>> OptionGroups =>
        _settings.Select(setting => (setting.Group, setting.Option as Option))
            .Concat(((Option[])[_check, _config, _detach, _logFile, _logFormat, _otlp, _pidFile, _verbose, _version, _license]).Select(option => ("Process and log", option)))
            .Concat(_memcachedFlags.Options.Select(option => ("Flags of memcached", option)))
            .GroupBy(option => option.Item1, option => option.Item2, StringComparer.Ordinal);

    public override IReadOnlyList<Example> Examples { get; } =
    [
        new("cairn serve", "Both protocols, for clients on this machine only."),
        new("cairn serve --store books.cairn --capacity 4GiB --resp off", "A named store, with the memcached protocol only."),
        new("cairn serve -m 1024 -p 11211 -l 127.0.0.1 -c 1024", "A replacement of memcached, with its flags."),
        new("cairn serve --memcached '*:11211' --insecure", "For a network that only trusted clients reach."),
        new("cairn serve --config /etc/cairn.json --check", "Reports whether the configuration is valid."),
    ];

    public override string JsonShape => """With --check: {"store", "memcached", "resp", "both", "http"}, the addresses null where a protocol is off.""";

    public override bool ReadsEncrypted => false;

    public override string? MeaningOfNo => null;

    public override int Run(Invocation invocation)
    {
        if (invocation.Get(_version))
        {
            invocation.Output.WriteLine($"{ToolIdentity.Name} {ToolIdentity.Version}");
            return ExitCode.Done;
        }

        if (invocation.Get(_license))
        {
            invocation.Output.WriteLine($"{ToolIdentity.Name} {ToolIdentity.Version}, under the MIT license: https://opensource.org/license/mit");
            return ExitCode.Done;
        }

        string? store = invocation.FindStorePath();
        ServerOptions options = ServeConfiguration.Read(_settings, invocation, store, GetText(invocation, _config, ConfigVariable));
        _memcachedFlags.Apply(invocation, invocation.Warn, ref options);
        var log = new ServerLogWriter(
            invocation.Console.Error, invocation.Console.Clock, Format(invocation),
            invocation.Get(_verbose) ? LogLevel.Debug : LogLevel.Information);
        try
        {
            Uri? collector = Collector(invocation);
            bool isCheck = invocation.Get(_check);
            RequireFiles(invocation);
            ServerOptions complete = OnStore(() => CairnServer.Check(
                options, invocation.Console.GetEnvironmentVariable, isCheck ? new WarningLogger(invocation.Warn) : null));
            if (isCheck)
            {
                Report(invocation, complete);
                return ExitCode.Done;
            }

            // Registered before the server starts, so that no signal is lost.
            CancellationToken interruption = invocation.Console.Interruption;
            if (Detachment.IsDetached(invocation.Console.GetEnvironmentVariable))
            {
                Detachment.LeaveSession();
            }
            else if (invocation.Get(_detach))
            {
                return Detachment.StartInBackground(interruption);
            }

            using LogFile? file = invocation.Get(_logFile) is { } path ? ToFile(_logFile.Name, path, () => new LogFile(path, log)) : null;
            try
            {
#pragma warning disable VSTHRD002 // The tool has only this thread, and there is no context that could deadlock.
                return ServeAsync(invocation, options, collector, log, interruption).GetAwaiter().GetResult();
#pragma warning restore VSTHRD002
            }
            catch (Exception e) when (file is not null && Record(log, e))
            {
                throw; // Never reached: the filter only records the exception.
            }
        }
        catch (ServerException e)
        {
            throw new ToolException(ExitCode.Server, e.Message, e);
        }
        catch (ArgumentException e)
        {
            throw Invocation.WrongOption(e);
        }
    }

    private async Task<int> ServeAsync(
        Invocation invocation, ServerOptions options, Uri? collector, ServerLogWriter log, CancellationToken interruption)
    {
        log.Write(LogLevel.Information, $"{ToolIdentity.Name} {ToolIdentity.Version} is starting.");
        DashboardHistory? history = null;
        using PidFile? pidFile = invocation.Get(_pidFile) is { } path ? ToFile(_pidFile.Name, path, () => new PidFile(path, log)) : null;
        CairnServer server = await StartAsync(options, log, insight => new CairnDashboard(insight, history)).ConfigureAwait(false);
        await using (server.ConfigureAwait(false))
        {
            // Created after the start, so that clients do not wait for it.
            history = server.Addresses.Any(address => address.Key == HttpListener) ? new DashboardHistory(server.Insight) : null;
            using DashboardHistory? ended = history;
            using Telemetry? telemetry = Tell(invocation, server, collector);
            WritePorts(invocation, server);
            if (pidFile is not null)
            {
                ToFile(_pidFile.Name, invocation.Get(_pidFile)!, pidFile.Publish);
            }

            foreach ((_, string address) in server.Addresses.Where(address => address.Key == HttpListener && IsLoopback(address.Value)))
            {
                log.Write(LogLevel.Information, $"The dashboard is at http://{address}.");
            }

            ServiceState.Notify(invocation.Console.GetEnvironmentVariable, ServiceState.Ready);
            if (Detachment.IsDetached(invocation.Console.GetEnvironmentVariable))
            {
                Detachment.LetGoOfTerminal();
            }

            StartPages.GiveBack();
            var stopped = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
            using CancellationTokenRegistration interrupted = interruption.Register(() => stopped.TrySetResult());
            using PosixSignalRegistration? signalled = OperatingSystem.IsLinux()
                ? PosixSignalRegistration.Create((PosixSignal)UserSignal, context =>
                {
                    context.Cancel = true;
                    stopped.TrySetResult();
                })
                : null;
            using CancellationTokenRegistration asked = server.ShutdownRequested.Register(() => stopped.TrySetResult());
            await stopped.Task.ConfigureAwait(false);

            ServiceState.Notify(invocation.Console.GetEnvironmentVariable, ServiceState.Stopping);
            log.Write(LogLevel.Information, "Stopping: the server finishes the received requests.");
            telemetry?.Dispose();
            await server.StopAsync().ConfigureAwait(false);
        }

        log.Write(LogLevel.Information, "Stopped.");
        return ExitCode.Done;
    }

    // Scripts that let memcached choose a port read it in this file. The file gets its name when it is complete.
    private static void WritePorts(Invocation invocation, CairnServer server)
    {
        if (invocation.Console.GetEnvironmentVariable(PortFileVariable) is not { Length: > 0 } path)
        {
            return;
        }

        IEnumerable<IPEndPoint> ports = server.Addresses
            .Where(address => address.Key.StartsWith("memcached", StringComparison.Ordinal))
            .Select(address => IPEndPoint.TryParse(address.Value, out IPEndPoint? port) ? port : null)
            .OfType<IPEndPoint>();
        ToFile(PortFileVariable, path, () =>
        {
            ReplacedFile.RequireFile(path);
            string written = path + ".new";
            try
            {
                File.WriteAllLines(written, ports.Select(port => string.Create(
                    CultureInfo.InvariantCulture, $"TCP {(port.AddressFamily == AddressFamily.InterNetworkV6 ? "INET6" : "INET")}: {port.Port}")));
                File.Move(written, path, overwrite: true);
                return path;
            }
            catch (Exception e) when (e is IOException or ArgumentOutOfRangeException)
            {
                File.Delete(written); // The disk may be full, or the limit on file sizes reached, after the file was created.
                throw;
            }
        });
    }

    // The log file is where users look if a server that a script started does not run.
    private static bool Record(ServerLogWriter log, Exception failure)
    {
        log.Write(LogLevel.Error, LibraryTerms.ForTool(failure.Message));
        return false;
    }

    // Runs before clients can connect, because a failure would close their connections.
    private void RequireFiles(Invocation invocation)
    {
        foreach (Option<string?> option in (ReadOnlySpan<Option<string?>>)[_pidFile, _logFile])
        {
            if (invocation.Get(option) is { } path)
            {
                RequireFolder(option.Name, path);
                if (Directory.Exists(path))
                {
                    throw new ToolException(ExitCode.File, $"{option.Name} '{path}' is a directory; name a file");
                }

                // The log is appended, so it can be a device or a pipe.
                if (option == _pidFile && HostPlatform.Current.IsSpecialFile(path))
                {
                    throw new ToolException(ExitCode.File, $"{option.Name} '{path}' is a device, pipe or socket, which the file would replace; name a file");
                }
            }
        }
    }

    // Exceptions of the framework refer to the store's file here.
    private static T OnStore<T>(Func<T> work)
    {
        try
        {
            return work();
        }
        catch (Exception e) when (e is DirectoryNotFoundException or UnauthorizedAccessException)
        {
            throw new ToolException(ExitCode.Store, e.Message, e);
        }
    }

    private static async Task<CairnServer> StartAsync(ServerOptions options, ServerLogWriter log, Func<ServerInsight, IHttpService> http)
    {
        try
        {
            return await CairnServer.StartAsync(options, log, http).ConfigureAwait(false);
        }
        catch (Exception e) when (e is DirectoryNotFoundException or UnauthorizedAccessException)
        {
            throw new ToolException(ExitCode.Store, e.Message, e);
        }
    }

    private static bool IsLoopback(string address) => IPEndPoint.TryParse(address, out IPEndPoint? endPoint) && IPAddress.IsLoopback(endPoint.Address);

    private static void RequireFolder(string option, string path)
    {
        if (Path.GetDirectoryName(Path.GetFullPath(path)) is { } folder && !Directory.Exists(folder))
        {
            throw new ToolException(ExitCode.File, $"the directory of {option} '{path}' does not exist; create it first, or correct the path");
        }
    }

    private static T ToFile<T>(string option, string path, Func<T> write)
    {
        RequireFolder(option, path);
        try
        {
            return write();
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException)
        {
            throw new ToolException(ExitCode.File, $"{option} '{path}' cannot be written: {e.Message}", e);
        }
        catch (ArgumentOutOfRangeException e)
        {
            throw ToolException.TooLarge(path, e); // .NET reports a file that is too large in this way.
        }
    }

    private Uri? Collector(Invocation invocation)
    {
        if (invocation.Get(_otlp) is not { } text)
        {
            return null;
        }

        return Uri.TryCreate(text, UriKind.Absolute, out Uri? collector) && collector.Scheme is "http" or "https"
            ? collector
            : throw ToolException.Usage($"--otlp takes a URL such as http://127.0.0.1:4318, not '{text}'");
    }

    // A separate method, so that OpenTelemetry is loaded only when it is requested.
    private static Telemetry? Tell(Invocation invocation, CairnServer server, Uri? collector)
    {
        Func<string, string?> environment = invocation.Console.GetEnvironmentVariable;
        bool isAskedFor = collector is not null
            || !string.IsNullOrEmpty(environment(Telemetry.EndpointVariable))
            || !string.IsNullOrEmpty(environment(Telemetry.MetricsEndpointVariable));
        return isAskedFor ? Telemetry.Start(server.Insight, collector, environment) : null;
    }

    private static void Report(Invocation invocation, ServerOptions options)
    {
        if (invocation.IsJson)
        {
            using var line = new Output.JsonLine(invocation.Output);
            line.Writer.WriteString("store"u8, options.StorePath);
            line.Writer.WriteString("memcached"u8, options.Memcached);
            line.Writer.WriteString("resp"u8, options.Resp);
            line.Writer.WriteString("both"u8, options.Both);
            line.Writer.WriteString("http"u8, options.Http);
            return;
        }

        invocation.Output.WriteLine("the configuration is valid");
    }

    private ServerLogFormat Format(Invocation invocation) => GetText(invocation, _logFormat, LogFormatVariable)?.ToUpperInvariant() switch
    {
        null when !string.IsNullOrEmpty(invocation.Console.GetEnvironmentVariable(JournalVariable)) => ServerLogFormat.Journal,
        null => invocation.IsJson ? ServerLogFormat.Json : ServerLogFormat.Text,
        "TEXT" => ServerLogFormat.Text,
        "JSON" => ServerLogFormat.Json,
        "JOURNAL" => ServerLogFormat.Journal,
        var other => throw ToolException.Usage($"--log-format takes text, json or journal, not '{other}'"),
    };

    private static string? GetText(Invocation invocation, Option<string?> option, string variable) =>
        invocation.Get(option) ?? (invocation.Console.GetEnvironmentVariable(variable) is { Length: > 0 } text ? text : null);
}
