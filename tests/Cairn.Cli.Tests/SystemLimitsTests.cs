using System.ComponentModel;
using System.Security.Cryptography;

namespace Cairn.Cli.Tests;

/// <summary>If the system refuses the runtime a thread, memory or an open file, the message names the limit to raise.</summary>
public sealed class SystemLimitsTests : ToolTest
{
    private const string Thread = "refuses a thread or memory";
    private const string File = "refuses another open file";

    /// <summary>Gets the exceptions that .NET 10 throws for each cause. The type of a native binary's initializer has no name.</summary>
    public static TheoryData<Exception, string, int> Refusals => new()
    {
        { InInitializer(new IOException("used by another process", 11)), Thread, ExitCode.Store },
        { InInitializer(new IOException("Cannot allocate memory", 12)), Thread, ExitCode.Store },
        { InInitializer(new InsufficientMemoryException()), Thread, ExitCode.Store },
        { new InsufficientMemoryException(), Thread, ExitCode.Store },
        { new Win32Exception(11), Thread, ExitCode.Store },
        { InInitializer(new IOException("Too many open files", 24)), File, ExitCode.File },
        { InInitializer(new IOException("Too many open files in system", 23)), File, ExitCode.File },
        { InInitializer(new InvalidOperationException("Exception of type 'System.Net.InternalException' was thrown. EMFILE")), File, ExitCode.File },
        { new Win32Exception(24), File, ExitCode.File },
        { new CryptographicException(), "Make sure that this process can read /dev/urandom", ExitCode.Store },
        { new CryptographicException("The certificate is broken."), "internal error of the tool: CryptographicException: The certificate is broken.", ExitCode.Failure },
        { InInitializer(new InvalidOperationException("no reason known")), "internal error of the tool: InvalidOperationException: no reason known", ExitCode.Failure },
        { new IOException("used by another process", 11), "cairn: used by another process", ExitCode.File },
    };

    [Theory]
    [MemberData(nameof(Refusals))]
    public void Refused_thread_memory_or_open_file_is_named_as_what_it_is(Exception failure, string message, int code)
    {
        CreateStore();
        using TestConsole console = NewConsole();
        console.FailedSignals = failure;

        ToolRun run = Run(console, "export");

        Assert.Equal(code, run.Code);
        Assert.Contains(message, run.Error, StringComparison.Ordinal);
    }

    private static TypeInitializationException InInitializer(Exception cause) => new(fullTypeName: null, cause);
}
