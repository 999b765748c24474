using System.CommandLine;
using System.CommandLine.Parsing;
using System.Reflection;
using Cairn.Cli.Arguments;
using Cairn.Cli.Commands;
using Cairn.Cli.Output;

namespace Cairn.Cli;

// One run of the tool: command line -> command -> exit code. Nothing of the process is used but what the console gives, so
// tests run it as it is.
//
// The parser of System.CommandLine is used, but not its invocation: help and errors read the same everywhere here, name the
// tool `cairn` whatever its assembly is called, and cost no start-up time.
internal static class Tool
{
    public const string Name = "cairn";

    // Keys may begin with @, which otherwise names a file of arguments, and with a hyphen after --.
    private static readonly ParserConfiguration Parsing = new() { ResponseFileTokenReplacer = null, EnablePosixBundling = false };

    // Each is made when it is needed: the options of all of them take longer to make than most commands to run.
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
        new("verify", shared => new VerifyCommand(shared)),
        new("compact", shared => new CompactCommand(shared)),
        new("rekey", shared => new RekeyCommand(shared)),
        new("backup", shared => new BackupCommand(shared)),
        new("restore", shared => new RestoreCommand(shared)),
        new("stats", shared => new StatsCommand(shared)),
        new("top", shared => new TopCommand(shared)),
        new("bigkeys", shared => new BigKeysCommand(shared)),
        new("create", shared => new CreateCommand(shared)),
        new("serve", shared => new ServeCommand(shared)),
        new("open", shared => new OpenCommand(shared)),
        new("bench", shared => new BenchCommand(shared)),
        new("serializers", shared => new SerializersCommand(shared)),
        new("file", shared => new FileCommand(shared)),
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
#pragma warning disable CA1031 // Whatever it is, the user gets one line and a script an exit code.
        catch (Exception failure)
#pragma warning restore CA1031
        {
            code = Report(failure, console, IsJsonAskedFor(args));
        }

        try
        {
            // What was done before the failure counts.
            console.Output.Flush();
        }
        catch (IOException)
        {
            // The failure that was reported is the one that matters, and may be this one.
        }

        return code;
    }

    /// <summary>Commands with their options, as a run sees them.</summary>
    /// <param name="shared">The options that all commands have.</param>
    /// <param name="named">Makes this command only, if there is one of that name; by default all.</param>
    public static Command CreateRoot(SharedOptions shared, string? named = null)
    {
        var root = new Command(Name, "Works on the store files of Cairn, also while other processes use them, and serves them.");
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

    /// <summary>The version of the tool, without the commit it was built from.</summary>
    public static string Version =>
        typeof(Tool).Assembly.GetCustomAttribute<AssemblyInformationalVersionAttribute>()!.InformationalVersion.Split('+')[0];

    private static int RunCommand(IReadOnlyList<string> args, ToolConsole console)
    {
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

    // The options belong to all commands, but a key that is given and not used would be a mistake that nobody notices.
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
            line.Writer.WriteString("version", Version);
            return;
        }

        output.WriteLine($"{Name} {Version}");
    }

    // A command line that cannot be understood may ask for JSON all the same.
    private static bool IsJsonAskedFor(IReadOnlyList<string> args) => args.TakeWhile(word => word != "--").Contains("--json", StringComparer.Ordinal);

    // Messages of the store say what happened, with which value, and what to do. Here they get a name before them. Types of assemblies that
    // few commands load are translated by those commands: a process that has no file descriptor left can load nothing more.
    private static int Report(Exception failure, ToolConsole console, bool isJson)
    {
        (int code, string? message) = failure switch
        {
            ToolException known => (known.ExitCode, known.Message),
            OutputClosedException => (ExitCode.OutputClosed, null),
            OperationCanceledException => (console.InterruptedCode, "interrupted"),
            StoreCorruptException => (ExitCode.Damaged, failure.Message),
            StoreException => (ExitCode.Store, failure.Message),
            ArgumentException wrong => (ExitCode.Usage, Invocation.WithoutParameterName(wrong)),
            IOException or UnauthorizedAccessException => (ExitCode.File, failure.Message),
            _ => (ExitCode.Failure, $"this is a mistake in the tool: {failure.GetType().Name}: {failure.Message}"),
        };
        if (message is not null)
        {
            ErrorMessages.WriteError(console, isJson, LibraryTerms.ForTool(message), code);
        }

        return code;
    }
}
