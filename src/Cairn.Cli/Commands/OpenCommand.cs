using System.ComponentModel;
using System.Net;
using Cairn.Cli.Serving;
using Cairn.Dashboard;

namespace Cairn.Cli.Commands;

internal sealed class OpenCommand : ToolCommand
{
    private readonly Argument<string?> _file = new("FILE")
    {
        Description = "The store's file. Default: that of --store.",
        Arity = ArgumentArity.ZeroOrOne,
    };

    private readonly ValueOption<int> _port = ValueOptions.Count("--port", "The port on 127.0.0.1. Default: a free port.", 1, IPEndPoint.MaxPort);
    private readonly Flag _noBrowser = new("--no-browser", "Only print the address.");
    private readonly Flag _readOnly = new("--read-only", "Disable deletion.");

    public OpenCommand()
        : base("open", "Shows a store file in the browser: live figures, keys and values.")
    {
        Add(_file);
        Add(_port);
        Add(_noBrowser);
        Add(_readOnly);
    }

    public override string UsageWords => "[FILE]";

    public override string Details =>
        "The page is the dashboard of cairn serve, without a server. It shows the activity of all processes that use the store, and can search and delete keys. Only browsers on this machine can reach it, with the secret in the printed address. The command runs until Ctrl-C.";

    public override IReadOnlyList<Example> Examples { get; } =
    [
        new("cairn open books.cairn", "Opens the browser."),
        new("cairn open books.cairn --port 8090 --no-browser", "On a machine without a browser: connect with ssh -L 8090:127.0.0.1:8090."),
        new("cairn open books.cairn --read-only", "Without deletion."),
    ];

    public override string JsonShape => """{"url"}, once the page can be opened.""";

    public override int Run(Invocation invocation)
    {
        DescriptorLimit.RequireFor(256, "'cairn open'");
        string path = invocation.Get(_file) ?? invocation.StorePath;
        CancellationToken interruption = invocation.Console.Interruption;
#pragma warning disable VSTHRD002 // The tool has only this thread, and there is no context that could deadlock.
        return ShowAsync(invocation, path, interruption).GetAwaiter().GetResult();
#pragma warning restore VSTHRD002
    }

    private async Task<int> ShowAsync(Invocation invocation, string path, CancellationToken interruption)
    {
        using CairnStore store = invocation.Open(new StoreOptions
        {
            Path = path, OpenMode = StoreOpenMode.OpenExisting, TimeProvider = invocation.Console.Clock,
        });
        StoreDashboard dashboard;
        try
        {
            dashboard = await StoreDashboard.StartAsync(store, new StoreDashboardOptions
            {
                Port = invocation.Get(_port) ?? 0, IsReadOnly = invocation.Get(_readOnly), Logger = new WarningLogger(invocation.Warn),
            }).ConfigureAwait(false);
        }
        catch (IOException taken)
        {
            throw new ToolException(
                ExitCode.Server,
                $"port {invocation.Get(_port)} of 127.0.0.1 cannot be listened on: {taken.GetBaseException().Message}. Name another with --port, or none for a free one.", taken);
        }

        await using (dashboard.ConfigureAwait(false))
        {
            string address = dashboard.Address.ToString();
            if (invocation.IsJson)
            {
                using var line = new JsonLine(invocation.Output);
                line.Writer.WriteString("url"u8, address);
            }
            else
            {
                invocation.Output.WriteLine($"The store is shown at {address}");
                invocation.Output.WriteLine("Ctrl-C ends it.");
            }

            invocation.Output.Flush();
            if (!invocation.Get(_noBrowser) && invocation.Console.IsOutputTerminal)
            {
                OpenBrowser(address);
            }

            var ended = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
            using CancellationTokenRegistration interrupted = interruption.Register(() => ended.TrySetResult());
            await ended.Task.ConfigureAwait(false);
        }

        return ExitCode.Done;
    }

    // Without a browser, the printed address is enough.
    private static void OpenBrowser(string address)
    {
        try
        {
            using Process? browser = OperatingSystem.IsWindows()
                ? Process.Start(new ProcessStartInfo(address) { UseShellExecute = true })
                : Process.Start(new ProcessStartInfo(OperatingSystem.IsMacOS() ? "open" : "xdg-open", [address])
                {
                    UseShellExecute = false, RedirectStandardError = true, RedirectStandardOutput = true,
                });
        }
        catch (Win32Exception)
        {
        }
    }
}
