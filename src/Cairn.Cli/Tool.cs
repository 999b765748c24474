using System.CommandLine.Parsing;
using Cairn.Cli.Commands;
using Cairn.Cli.Serving;

namespace Cairn.Cli;

// One run of the tool: command line -> command -> exit code. It uses the process only through the console, so tests can run it in their
// own process.
//
// The tool uses the parser of System.CommandLine but not its invocation. So help and errors have the same form everywhere and name the tool
// `cairn` independently of its assembly's name, and start-up takes less time.
internal static class Tool
{
    // Keys may begin with @, which otherwise names a file of arguments, and after -- with a hyphen.
    private static readonly ParserConfiguration Parsing = new() { ResponseFileTokenReplacer = null, EnablePosixBundling = false };

    // A command is created only when it is needed: creating the options of all commands takes longer than most commands run.
    private static readonly KeyValuePair<string, Func<SharedOptions, Command>>[] Commands =
    [
        new("get", shared => new GetCommand(shared)),
        new("set", shared => new SetCommand(shared)),
        new("del", shared => new DelCommand(shared)),
        new("touch", shared => new TouchCommand(shared)),
        new("keys", shared => new KeysCommand(shared)),
        new("dump", shared => new DumpCommand(shared)),
        new("export", shared => new ExportCommand(shared)),
        new("import", shared => new ImportCommand(shared)),
        new("verify", _ => new VerifyCommand()),
        new("compact", _ => new CompactCommand()),
        new("rekey", _ => new RekeyCommand()),
        new("backup", _ => new BackupCommand()),
        new("restore", _ => new RestoreCommand()),
        new("stats", shared => new StatsCommand(shared)),
        new("top", shared => new TopCommand(shared)),
        new("bigkeys", shared => new BigKeysCommand(shared)),
        new("create", shared => new CreateCommand(shared)),
        new("serve", _ => new ServeCommand()),
        new("open", _ => new OpenCommand()),
        new("bench", _ => new BenchCommand()),
        new("trace", _ => new TraceCommand()),
        new("file", _ => new FileCommand()),
        new("completion", _ => new CompletionCommand()),
    ];

    /// <summary>Runs the tool.</summary>
    /// <returns>The exit code: one of <see cref="ExitCode"/>.</returns>
    public static int Run(IReadOnlyList<string> args, ToolConsole console)
    {
        ArgumentNullException.ThrowIfNull(args);
        ArgumentNullException.ThrowIfNull(console);
        int code;
        try
        {
            code = RunCommand(args, console);
            console.Output.Flush();
            return code;
        }
#pragma warning disable CA1031 // Any failure becomes one line for the user and an exit code for scripts.
        catch (Exception failure)
#pragma warning restore CA1031
        {
            code = Report(failure, console, IsJsonAskedFor(args), isServer: args is [ServeCommand.CommandName, ..]);
        }

        try
        {
            // Output from before the failure is still written.
            console.Output.Flush();
        }
        catch (IOException)
        {
            // The failure that was reported first is more important, and may be the same.
        }

        return code;
    }

    /// <summary>Creates the root command with its commands and options.</summary>
    /// <param name="shared">The options that all commands have.</param>
    /// <param name="named">The name of the only command to create, if it exists; otherwise all are created.</param>
    public static Command CreateRoot(SharedOptions shared, string? named = null)
    {
        var root = new Command(ToolIdentity.Name, "Reads, changes and serves the store files of Cairn, even while other processes use them.");
        bool isNamed = Commands.Any(command => command.Key == named);
        foreach ((string name, Func<SharedOptions, Command> make) in Commands)
        {
            if (!isNamed || name == named)
            {
                root.Add(make(shared));
            }
        }

        root.Add(shared.Store);
        root.Add(shared.KeyFile);
        root.Add(shared.PasswordFile);
        root.Add(shared.Json);
        root.Add(shared.Help);
        root.Add(shared.Version);
        return root;
    }

    private static int RunCommand(IReadOnlyList<string> args, ToolConsole console)
    {
        // Scripts ask for the version at each of their starts. All commands with their options take a millisecond to create.
        if (args is ["--version"])
        {
            WriteVersion(isJson: false, console.Output);
            return ExitCode.Done;
        }

        var shared = new SharedOptions();
        Command root = CreateRoot(shared, args.Count > 0 ? args[0] : null);
        if (Suggestions.IsAskedFor(args))
        {
            Suggestions.Write(root, Parsing, args, console.Output);
            return ExitCode.Done;
        }

        if (args is ["help", ..])
        {
            args = [.. args.SkipWhile(word => word == "help"), "--help"];
        }

        if (args is [ServeCommand.CommandName, ..])
        {
            args = MemcachedFlags.Split(args);
        }

        ParseResult parsed = root.Parse(args, Parsing);
        if (parsed.GetValue(shared.Help) || args.Count == 0)
        {
            CommandLineMistakes.ThrowIfUnknownCommand(parsed, root);
            HelpText.Write(root, parsed.CommandResult.Command, shared, console.Output);
            return ExitCode.Done;
        }

        if (parsed.GetResult(shared.Version) is { Implicit: false } && parsed.CommandResult.Command == root)
        {
            WriteVersion(parsed.GetValue(shared.Json), console.Output);
            return ExitCode.Done;
        }

        CommandLineMistakes.ThrowIfAny(parsed, root);
        var command = (ToolCommand)parsed.CommandResult.Command;
        RequireNoKey(command, parsed, shared);
        return command.Run(new Invocation(parsed, shared, console));
    }

    // All commands have these options. A key that is given but not used would be an unnoticed mistake, so it is an error.
    private static void RequireNoKey(ToolCommand command, ParseResult parsed, SharedOptions shared)
    {
        if (!command.ReadsEncrypted
            && (parsed.GetValue(shared.KeyFile) is not null ? shared.KeyFile : parsed.GetValue(shared.PasswordFile) is not null ? shared.PasswordFile : null) is { } option)
        {
            throw ToolException.Usage(
                $"{option.Name} cannot be used with '{command.Name}', which opens no encrypted store"
                + (command.UsesStore ? "; 'cairn rekey --full --decrypt' decrypts a store" : ""));
        }
    }

    private static void WriteVersion(bool isJson, ToolOutput output)
    {
        if (isJson)
        {
            using JsonLine line = new(output);
            line.Writer.WriteString("version", ToolIdentity.Version);
            return;
        }

        output.WriteLine($"{ToolIdentity.Name} {ToolIdentity.Version}");
    }

    // A command line that is not valid may still ask for JSON.
    private static bool IsJsonAskedFor(IReadOnlyList<string> args) => args.TakeWhile(word => word != "--").Contains("--json", StringComparer.Ordinal);

    // Messages of the store state the event, the value and the remedy; this method adds the tool's name. Exceptions from assemblies that
    // few commands load are translated by those commands, because a process without a free file descriptor cannot load another assembly.
    private static int Report(Exception failure, ToolConsole console, bool isJson, bool isServer)
    {
        failure = SystemLimits.Translate(failure, isServer);
        (int code, string? message) = failure switch
        {
            ToolException known => (known.ExitCode, known.Message),
            OutputClosedException => (ExitCode.OutputClosed, null),
            OperationCanceledException => (console.InterruptedCode, "interrupted"),
            StoreCorruptException => (ExitCode.Damaged, failure.Message),
            StoreException => (ExitCode.Store, failure.Message),
            ArgumentException wrong => (ExitCode.Usage, Invocation.WithoutParameterName(wrong)),
            IOException or UnauthorizedAccessException => (ExitCode.File, failure.Message),
            _ => (ExitCode.Failure, $"internal error of the tool: {failure.GetType().Name}: {failure.Message}"),
        };
        if (message is not null)
        {
            ErrorMessages.WriteError(console, isJson, LibraryTerms.ForTool(message), code);
        }

        return code;
    }
}
